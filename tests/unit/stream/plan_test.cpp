// SPDX-License-Identifier: MIT
#include "stream/plan.h"

#include <gtest/gtest.h>

#include <random>

namespace layerstream::stream {
namespace {

struct Shape {
  std::vector<Unit> units;
  PlanInput input;
};

Shape random_shape(std::mt19937_64& random) {
  Shape shape;
  const std::uint32_t stages = 1 + static_cast<std::uint32_t>(random() % 40);
  for (std::uint32_t stage = 1; stage <= stages; ++stage) {
    const std::size_t n = 1 + random() % 9;
    for (std::size_t i = 0; i < n; ++i) shape.units.push_back({0, 1 + random() % (8u << 20), 0, stage, random() % 4 == 0});
  }
  shape.input.fixed_bytes = random() % (4u << 20);
  shape.input.kv_bytes = random() % (64u << 20);
  shape.input.base_activation_bytes = random() % (1u << 20);
  shape.input.entry_activation_bytes = random() % (1u << 17);
  shape.input.max_entries = 1 + static_cast<std::uint32_t>(random() % 512);
  return shape;
}

void expect_consistent(const Shape& shape, const Plan& plan) {
  std::uint64_t pinned = 0, streamed = 0, largest = 0;
  for (std::size_t i = 0; i < shape.units.size(); ++i) {
    if (plan.pinned[i]) {
      pinned += padded_bytes(shape.units[i].bytes);
    } else {
      streamed += shape.units[i].bytes;
      largest = std::max(largest, padded_bytes(shape.units[i].bytes));
    }
  }
  EXPECT_EQ(plan.pinned_bytes, pinned);
  EXPECT_EQ(plan.streamed_bytes_per_pass, streamed);
  EXPECT_EQ(plan.slot_bytes, largest);
  EXPECT_GE(plan.max_entries, 1u);
  EXPECT_LE(plan.max_entries, shape.input.max_entries);
  if (streamed > 0) {
    EXPECT_GE(plan.n_slots, 2u);
  } else {
    EXPECT_EQ(plan.n_slots, 0u);
  }
}

TEST(Plan, NeverExceedsTheBudgetAndUsesMoreAsItGrows) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    Shape shape = random_shape(random);
    shape.input.units = shape.units;
    shape.input.budget_bytes = kBudgetUnlimited;
    const auto unlimited = make_plan(shape.input);
    ASSERT_TRUE(unlimited);
    EXPECT_EQ(unlimited->n_slots, 0u);
    EXPECT_EQ(unlimited->streamed_bytes_per_pass, 0u);
    for (int step = 1; step <= 20; ++step) {
      shape.input.budget_bytes = unlimited->total_bytes() * static_cast<std::uint64_t>(step) / 19 + 1;
      const auto plan = make_plan(shape.input);
      if (!plan) {
        EXPECT_EQ(plan.error().code, ErrorCode::budget_too_small);
        continue;
      }
      EXPECT_LE(plan->total_bytes(), shape.input.budget_bytes);
      expect_consistent(shape, *plan);
    }
    EXPECT_EQ(make_plan(shape.input)->streamed_bytes_per_pass, 0u) << "the largest budget holds everything";
  }
}

TEST(Plan, MinimumPinsNothingAndKeepsActivationsBelowTheSlots) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    Shape shape = random_shape(random);
    shape.input.units = shape.units;
    shape.input.budget_bytes = kBudgetMinimum;
    const auto plan = make_plan(shape.input);
    ASSERT_TRUE(plan);
    expect_consistent(shape, *plan);
    EXPECT_EQ(plan->pinned_bytes, 0u);
    EXPECT_EQ(plan->n_slots, 2u);
    if (plan->max_entries > 1) {
      EXPECT_LE(plan->max_entries * shape.input.entry_activation_bytes, plan->slots_bytes());
    }
  }
}

TEST(Plan, PinsWholeStagesInExecutionOrder) {
  std::vector<Unit> units;
  for (std::uint32_t stage = 1; stage <= 4; ++stage) {
    for (int i = 0; i < 3; ++i) units.push_back({0, 6400, 0, stage, false});
  }
  // Room for twelve: four slots, then two stages and two units of the third.
  PlanInput input{.units = units, .max_entries = 1, .budget_bytes = 12 * 6400};
  const auto plan = make_plan(input);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pinned, (std::vector<bool>{true, true, true, true, true, true, true, true, false, false, false, false}));
}

TEST(Plan, RefusalItemises) {
  const std::vector<Unit> units = {{0, 1000, 0, 1, false}};
  const auto plan = make_plan({.units = units, .fixed_bytes = 11, .kv_bytes = 22, .base_activation_bytes = 30, .entry_activation_bytes = 3, .max_entries = 1, .budget_bytes = 99});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "the smallest plan needs 2114 bytes (fixed 11, kv 22, activations 33, 2 slots of 1024), the budget is 99");
}

TEST(Plan, SizesThatOverflowAreRefused) {
  const std::vector<Unit> units = {{0, UINT64_MAX / 2, 0, 1, false}, {0, UINT64_MAX / 2, 0, 1, false}, {0, UINT64_MAX / 2, 0, 1, false}};
  EXPECT_FALSE(make_plan({.units = units}));
}

}  // namespace
}  // namespace layerstream::stream

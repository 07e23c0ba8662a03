// SPDX-License-Identifier: MIT
#include "stream/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  shape.input.entry_bytes = random() % (1u << 14);
  shape.input.chunk_entry_bytes = random() % (1u << 17);
  shape.input.sampler_bytes = random() % (1u << 20);
  shape.input.conditional_share = 0.25;
  shape.input.max_entries = 1 + static_cast<std::uint32_t>(random() % 2048);
  shape.input.max_chunk_entries = 1 + static_cast<std::uint32_t>(random() % 512);
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
  EXPECT_LE(plan.read_bytes_per_token, streamed);
  EXPECT_EQ(plan.streamed_bytes_per_pass, streamed);
  EXPECT_EQ(plan.slot_bytes, largest);
  EXPECT_GE(plan.max_entries, 1u);
  EXPECT_LE(plan.max_entries, shape.input.max_entries);
  EXPECT_GE(plan.chunk_entries, 1u);
  EXPECT_LE(plan.chunk_entries, std::min(plan.max_entries, shape.input.max_chunk_entries));
  EXPECT_EQ(plan.activation_bytes, shape.input.base_activation_bytes + plan.max_entries * shape.input.entry_bytes + plan.chunk_entries * shape.input.chunk_entry_bytes);
  if (streamed > 0) {
    EXPECT_EQ(plan.chunk_entries, plan.max_entries) << "streamed weights are read once for a chunk";
    EXPECT_GE(plan.n_slots, 3u);
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
    EXPECT_EQ(unlimited->max_entries, shape.input.max_entries);
    EXPECT_EQ(unlimited->chunk_entries, std::min(shape.input.max_entries, shape.input.max_chunk_entries));
    for (int step = 1; step <= 20; ++step) {
      shape.input.budget_bytes = unlimited->total_bytes() * static_cast<std::uint64_t>(step) / 19 + 1;
      const auto plan = make_plan(shape.input);
      EXPECT_EQ(plan.has_value(), shape.input.budget_bytes >= unlimited->smallest_bytes);
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
    EXPECT_EQ(plan->n_slots, 3u);
    if (plan->max_entries > 1) {
      EXPECT_LE(plan->max_entries * (shape.input.entry_bytes + shape.input.chunk_entry_bytes), plan->slots_bytes());
    }
  }
}

// Units of equal size, one entry a pass: what is left of the budget after eight slots is pinned.
Plan plan_of(const std::vector<Unit>& units, std::uint64_t n_pinned) {
  const auto plan = make_plan({.units = units, .max_entries = 1, .conditional_share = 0.5, .budget_bytes = (8 + n_pinned) * 6400});
  EXPECT_TRUE(plan);
  return *plan;
}

TEST(Plan, SpreadsPinnedUnitsOverThePass) {
  const std::vector<Unit> units(64, {0, 6400, 0, 1, false});
  for (std::uint64_t n_pinned = 13; n_pinned <= 55; ++n_pinned) {
    const Plan plan = plan_of(units, n_pinned);
    ASSERT_EQ(plan.pinned_bytes, n_pinned * 6400);
    // Every quarter has its share, give or take one.
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      const auto begin = plan.pinned.begin() + static_cast<std::ptrdiff_t>(quarter * 16);
      const auto n = static_cast<double>(std::count(begin, begin + 16, true));
      EXPECT_NEAR(n, static_cast<double>(n_pinned) / 4, 1.0) << n_pinned << " pinned, quarter " << quarter;
    }
  }
}

TEST(Plan, PinsWhatEveryPassUsesBeforeExperts) {
  std::vector<Unit> units(40, {0, 6400, 0, 1, true});
  for (std::size_t i = 0; i < units.size(); i += 2) units[i].conditional = false;
  const Plan few = plan_of(units, 14), more = plan_of(units, 26);
  for (std::size_t i = 0; i < units.size(); ++i) EXPECT_FALSE(few.pinned[i] && units[i].conditional) << i;
  for (std::size_t i = 0; i < units.size(); i += 2) EXPECT_TRUE(more.pinned[i]) << i;
  EXPECT_EQ(few.read_bytes_per_token, 6 * 6400u + 10 * 6400u) << "six that every pass reads, half of twenty experts";
  EXPECT_EQ(more.read_bytes_per_token, 7 * 6400u) << "half of the fourteen experts that are left";
}

TEST(Plan, LargeModelsReadAPromptInOneSweepWhereThatReadsLess) {
  const std::vector<Unit> large(600, {0, 8u << 20, 0, 1, false}), small(40, {0, 8u << 20, 0, 1, false});
  PlanInput input{.units = large, .entry_bytes = 10'000, .chunk_entry_bytes = 140'000, .max_entries = 2048, .max_chunk_entries = 512, .budget_bytes = 100u << 20};
  EXPECT_EQ(make_plan(input)->max_entries, 512u) << "entries for 77 MB save a sweep over 5 GB; pinned, they would save 77 MB a token";
  input.units = small;
  EXPECT_LE(make_plan(input)->max_entries, 256u) << "of 335 MB, 77 MB pinned save more than a sweep";
}

TEST(Plan, ResidentWeightsTakeALongPromptInChunksAsFarAsThereIsRoom) {
  const std::vector<Unit> units(4, {0, 6400, 0, 1, false});
  PlanInput input{.units = units, .entry_bytes = 10, .chunk_entry_bytes = 90, .max_entries = 2048, .max_chunk_entries = 512};
  for (const std::uint64_t room : {12'800u, 51'199u, 51'200u, 51'209u, 51'210u, 52'000u, 66'559u, 66'560u, 100'000u}) {
    input.budget_bytes = 4 * 6400 + room;
    const auto plan = make_plan(input);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->chunk_entries, std::min<std::uint64_t>(512, room / 100)) << room;
    const std::uint64_t left = room - std::uint64_t{plan->chunk_entries} * 100;
    EXPECT_EQ(plan->max_entries, std::min<std::uint64_t>(2048, plan->chunk_entries + left / 10)) << room;
    EXPECT_LE(plan->total_bytes(), input.budget_bytes);
  }
}

TEST(Plan, RaisingPinsMoreAndKeepsTheRest) {
  std::mt19937_64 random(3);
  int raised_some = 0;
  for (int round = 0; round < 100; ++round) {
    Shape shape = random_shape(random);
    shape.input.units = shape.units;
    const std::uint64_t all = make_plan(shape.input)->total_bytes();
    shape.input.budget_bytes = all / 2;
    const auto plan = make_plan(shape.input);
    if (!plan) continue;
    for (std::uint64_t budget : {all / 4, all / 2, all * 3 / 4, 2 * all}) {
      shape.input.budget_bytes = budget;
      const Plan raised = raise_plan(shape.input, *plan);
      EXPECT_EQ(raised.max_entries, plan->max_entries);
      EXPECT_EQ(raised.chunk_entries, plan->chunk_entries);
      EXPECT_EQ(raised.slots_bytes(), plan->slots_bytes());
      EXPECT_LE(raised.total_bytes(), std::max(budget, plan->total_bytes()));
      EXPECT_LE(raised.streamed_bytes_per_pass, plan->streamed_bytes_per_pass);
      raised_some += raised.pinned_bytes > plan->pinned_bytes ? 1 : 0;
      for (std::size_t i = 0; i < shape.units.size(); ++i) EXPECT_TRUE(raised.pinned[i] || !plan->pinned[i]);
    }
    EXPECT_EQ(raise_plan(shape.input, *plan).streamed_bytes_per_pass, 0u);
  }
  EXPECT_GT(raised_some, 100);
}

TEST(Plan, RefusalItemises) {
  const std::vector<Unit> four(4, {0, 1000, 0, 1, false}), one(1, {0, 1000, 0, 1, false});
  PlanInput input{.units = four, .fixed_bytes = 11, .kv_bytes = 22, .base_activation_bytes = 30, .entry_bytes = 1, .chunk_entry_bytes = 2, .sampler_bytes = 5, .max_entries = 1, .budget_bytes = 99};
  const auto plan = make_plan(input);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "the smallest plan needs 3143 bytes (fixed 11, kv 22, activations 33, sampler 5, 3 slots of 1024), the budget is 99");
  input.units = one;  // of which three slots would be more than all
  EXPECT_EQ(make_plan(input).error().message, "the smallest plan needs 1095 bytes (fixed 11, kv 22, activations 33, sampler 5, all weights 1024), the budget is 99");
  input.budget_bytes = 1095;
  EXPECT_TRUE(make_plan(input));
}

TEST(Plan, SizesThatOverflowAreRefused) {
  const std::vector<Unit> units = {{0, UINT64_MAX / 2, 0, 1, false}, {0, UINT64_MAX / 2, 0, 1, false}, {0, UINT64_MAX / 2, 0, 1, false}};
  EXPECT_FALSE(make_plan({.units = units}));
}

}  // namespace
}  // namespace layerstream::stream

// SPDX-License-Identifier: MIT
#include "stream/residency.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace layerstream::stream {
namespace {

std::vector<Unit> equal_units(std::size_t n) {
  std::vector<Unit> units;
  for (std::uint32_t i = 0; i < n; ++i) units.push_back({i * 100, 100, 0, i + 1, false});
  return units;
}

Residency make(const std::vector<Unit>& units, std::vector<bool> pinned, std::uint32_t n_slots) {
  Plan plan;
  plan.pinned = std::move(pinned);
  plan.n_slots = n_slots;
  plan.slot_bytes = 128;
  auto residency = Residency::create(units, plan);
  EXPECT_TRUE(residency);
  return std::move(*residency);
}

TEST(Residency, PrefetchFollowsExecutionOrderIntoFreeSlots) {
  Residency r = make(equal_units(5), std::vector<bool>(5, false), 2);
  EXPECT_EQ(r.next_read()->unit, 0u);
  EXPECT_EQ(r.next_read()->unit, 1u);
  EXPECT_FALSE(r.next_read());
  ASSERT_TRUE(r.complete(0));
  EXPECT_NE(r.data(0), nullptr);
  r.release(0);
  EXPECT_EQ(r.data(0), nullptr);
  r.set_cursor(1);
  EXPECT_EQ(r.next_read()->unit, 2u);
}

TEST(Residency, PrefetchWrapsToTheNextPass) {
  Residency r = make(equal_units(3), std::vector<bool>(3, false), 2);
  r.set_cursor(2);
  EXPECT_EQ(r.next_read()->unit, 2u);
  EXPECT_EQ(r.next_read()->unit, 0u);
}

TEST(Residency, WantedUnitTakesTheSlotThatIsUsedLast) {
  Residency r = make(equal_units(6), std::vector<bool>(6, false), 2);
  const auto a = r.next_read(), b = r.next_read();
  ASSERT_TRUE(r.complete(a->unit) && r.complete(b->unit));  // 0 and 1 are there
  r.set_cursor(1);
  r.want(4);
  const auto wanted = r.next_read();
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->unit, 4u);
  EXPECT_TRUE(wanted->urgent);
  EXPECT_EQ(r.data(0), nullptr) << "0 comes after 1 in the cycle";
  EXPECT_NE(r.data(1), nullptr);
}

TEST(Residency, ConditionalUnitsAreNotPrefetchedIntoSlots) {
  auto units = equal_units(4);
  units[1].conditional = true;
  Residency r = make(units, std::vector<bool>(4, false), 3);
  EXPECT_EQ(r.next_read()->unit, 0u);
  EXPECT_EQ(r.next_read()->unit, 2u);
  EXPECT_EQ(r.next_read()->unit, 3u);
}

TEST(Residency, AFailedReadIsOfferedAgain) {
  Residency r = make(equal_units(2), {true, false}, 2);
  for (int i = 0; i < 3; ++i) {
    const auto pinned = r.next_read(), streamed = r.next_read();
    ASSERT_TRUE(pinned && streamed);
    EXPECT_EQ(pinned->unit, 0u);
    EXPECT_EQ(streamed->unit, 1u);
    EXPECT_FALSE(r.next_read());
    ASSERT_TRUE(r.fail_read(0));
    ASSERT_TRUE(r.fail_read(1));
  }
  EXPECT_FALSE(r.fail_read(0));
  EXPECT_FALSE(r.complete(1));
  EXPECT_FALSE(r.complete(77));
}

TEST(Residency, DestinationsInFlightNeverOverlapWhateverHappens) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + random() % 12;
    std::vector<bool> pinned(n);
    for (std::size_t i = 0; i < n; ++i) pinned[i] = random() % 3 == 0;
    Residency r = make(equal_units(n), pinned, 2 + static_cast<std::uint32_t>(random() % 2));
    std::deque<UnitRead> in_flight;
    for (int step = 0; step < 300; ++step) {
      const UnitId unit = static_cast<UnitId>(random() % n);
      switch (random() % 6) {
        case 0: r.want(unit); break;
        case 1: r.want_soon(unit); break;
        case 2: r.set_cursor(unit); break;
        case 3: r.release(unit); break;
        case 4:
          if (const auto read = r.next_read()) {
            for (const UnitRead& other : in_flight) {
              EXPECT_NE(other.unit, read->unit);
              EXPECT_TRUE(read->into.data() + read->into.size() <= other.into.data() || other.into.data() + other.into.size() <= read->into.data());
            }
            in_flight.push_back(*read);
          }
          break;
        default:
          if (!in_flight.empty()) {
            ASSERT_TRUE(random() % 5 == 0 ? r.fail_read(in_flight.front().unit) : r.complete(in_flight.front().unit));
            in_flight.pop_front();
          }
      }
      std::uint64_t resident = 0;
      for (UnitId i = 0; i < n; ++i) resident += r.data(i) != nullptr ? 100 : 0;
      ASSERT_EQ(resident, r.resident_bytes());
      ASSERT_LE(resident, r.pinned_capacity_bytes() + r.slot_capacity_bytes());
    }
  }
}

}  // namespace
}  // namespace layerstream::stream

// SPDX-License-Identifier: MIT
#include "stream/residency.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  for (std::size_t i = 0; i < units.size(); ++i) plan.pinned_bytes += plan.pinned[i] ? padded_bytes(units[i].bytes) : 0;
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

TEST(Residency, PrefetchGoesOnBehindTheUnitThatWasReleasedLast) {
  Residency r = make(equal_units(5), {false, true, false, false, false}, 2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(r.complete(r.next_read()->unit));
  r.release(0);
  EXPECT_EQ(r.next_read()->unit, 3u) << "not 0, which the pass needs last";
  r.set_cursor(1);
  r.release(1);
  r.set_cursor(2);
  r.release(2);
  EXPECT_EQ(r.next_read()->unit, 4u);
  ASSERT_TRUE(r.complete(3) && r.complete(4));
  r.set_cursor(3);
  r.release(3);
  EXPECT_EQ(r.next_read()->unit, 0u);
  r.set_cursor(4);
  r.release(4);
  EXPECT_EQ(r.next_read()->unit, 2u) << "behind the last comes the next pass";
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

// What a read of the unit would bring.
void bring(Residency& r, const UnitRead& read) {
  std::fill(read.into.begin(), read.into.end(), static_cast<std::byte>(read.unit));
  ASSERT_TRUE(r.complete(read.unit));
}

std::vector<UnitId> resident_units(const Residency& r) {
  std::vector<UnitId> resident;
  for (UnitId unit = 0; unit < r.units().size(); ++unit) {
    if (r.data(unit) == nullptr) continue;
    resident.push_back(unit);
    EXPECT_EQ(*r.data(unit), static_cast<std::byte>(unit));
    EXPECT_EQ(r.data(unit)[99], static_cast<std::byte>(unit));
  }
  return resident;
}

TEST(Residency, PinningMoreKeepsWhatIsThereAndReadsTheRest) {
  Residency r = make(equal_units(6), {true, false, false, false, false, false}, 2);
  for (int i = 0; i < 3; ++i) bring(r, *r.next_read());
  ASSERT_EQ(resident_units(r), (std::vector<UnitId>{0, 1, 2}));
  Plan plan;
  plan.pinned = {true, true, false, true, false, false};
  plan.pinned_bytes = 3 * 128;
  ASSERT_TRUE(r.pin_more(plan));
  EXPECT_EQ(resident_units(r), (std::vector<UnitId>{0, 1, 2}));
  EXPECT_EQ(r.pinned_capacity_bytes(), 3u * 128);
  r.release(1);  // pinned now: stays
  EXPECT_NE(r.data(1), nullptr);
  const auto in_slot = r.next_read();  // the slot that 1 has left
  EXPECT_FALSE(r.pin_more(plan)) << "a read is in flight";
  bring(r, *in_slot);
  while (const auto read = r.next_read()) bring(r, *read);
  EXPECT_NE(r.data(3), nullptr);
}

TEST(Residency, AnExpertThatIsUsedMoreTakesThePlaceOfAPinnedOne) {
  auto units = equal_units(4);
  for (Unit& unit : units) unit.conditional = true;
  Residency r = make(units, {true, true, false, false}, 2);
  while (const auto read = r.next_read()) bring(r, *read);
  ASSERT_EQ(resident_units(r), (std::vector<UnitId>{0, 1}));
  const auto use = [&](UnitId unit) {
    r.set_cursor(0);
    r.want(unit);
    while (const auto read = r.next_read()) bring(r, *read);
    ASSERT_NE(r.data(unit), nullptr);
    r.release(unit);
  };
  use(1);
  use(3);
  EXPECT_EQ(resident_units(r), (std::vector<UnitId>{0, 1})) << "used once, which is no habit";
  use(3);
  EXPECT_EQ(resident_units(r), (std::vector<UnitId>{1, 3})) << "in the place of the one that was never used";
  use(3);
  use(3);
  EXPECT_EQ(resident_units(r), (std::vector<UnitId>{1, 3}));
  use(0);
  EXPECT_EQ(resident_units(r), (std::vector<UnitId>{1, 3})) << "it streams now";
}

TEST(Residency, ManyUsesOfFewExpertsAreReadOnce) {
  auto units = equal_units(64);
  for (Unit& unit : units) unit.conditional = true;
  std::vector<bool> pinned(64, false);
  for (std::size_t i = 0; i < 16; ++i) pinned[i] = true;
  Residency r = make(units, pinned, 2);
  std::mt19937_64 random(5);
  std::size_t late_reads = 0;
  for (int step = 0; step < 4000; ++step) {
    // Nine of ten uses are of the 12 units from 40 on.
    const UnitId unit = static_cast<UnitId>(random() % 10 == 0 ? random() % 64 : 40 + random() % 12);
    r.want(unit);
    while (const auto read = r.next_read()) {
      bring(r, *read);
      late_reads += step >= 2000 ? 1 : 0;
    }
    r.release(unit);
    ASSERT_EQ(r.resident_bytes(), resident_units(r).size() * 100);
  }
  EXPECT_LT(late_reads, 2000u / 8) << "nine of ten are pinned";
}

TEST(Residency, DestinationsInFlightNeverOverlapWhateverHappens) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + random() % 12;
    std::vector<bool> pinned(n);
    auto units = equal_units(n);
    for (std::size_t i = 0; i < n; ++i) {
      pinned[i] = random() % 3 == 0;
      units[i].conditional = random() % 3 == 0;
    }
    Residency r = make(units, pinned, 2 + static_cast<std::uint32_t>(random() % 2));
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

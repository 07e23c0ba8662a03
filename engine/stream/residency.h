#pragma once
// SPDX-License-Identifier: MIT
// Which units are in memory. Owns the pinned memory and the slots; hands out destinations for reads and views of what
// has arrived. Does no I/O and knows no threads.
//
// Which conditional units (experts) are pinned follows what passes use: one that is used more often than a pinned one takes
// its place.
//
// Life of a unit: absent -> (next_read) in flight -> (complete) resident -> (release or eviction; streamed only) absent.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/error.h"
#include "stream/plan.h"
#include "stream/units.h"

namespace layerstream::stream {

class Residency {
 public:
  // `units` is copied; memory is allocated here, once.
  [[nodiscard]] static Result<Residency> create(std::vector<Unit> units, const Plan& plan);

  // More pinned units, as `plan` (of raise_plan) says. bad_argument while a read is in flight: the memory of units moves.
  [[nodiscard]] Result<void> pin_more(const Plan& plan);

  [[nodiscard]] std::span<const Unit> units() const { return units_; }

  // The bytes of a unit, or nullptr while it is not resident. Valid until the unit is released or next_read() is called.
  [[nodiscard]] const std::byte* data(UnitId unit) const;

  // The pass cannot go on without this unit: it may take the place of another.
  void want(UnitId unit);
  // The pass will need this one as well (an expert that was just selected): read as soon as a slot is free.
  void want_soon(UnitId unit);
  // The pass has finished with this unit: a streamed one gives its slot back.
  void release(UnitId unit);
  // Where the pass stands: units from here on, cyclically, are worth prefetching.
  void set_cursor(UnitId unit);
  // Nobody waits any more (a pass was cancelled). Reads in flight stay in flight.
  void clear_wants();

  // The next read worth starting: the unit the pass stands at (evicting, if need be, the resident slot that is used last),
  // then those wanted soon, then prefetch into free slots and absent pinned units in execution order.
  [[nodiscard]] std::optional<UnitRead> next_read();
  // bad_argument if the unit is not in flight.
  [[nodiscard]] Result<void> complete(UnitId unit);
  [[nodiscard]] Result<void> fail_read(UnitId unit);

  [[nodiscard]] std::uint64_t resident_bytes() const { return resident_bytes_; }
  [[nodiscard]] std::uint64_t peak_resident_bytes() const { return peak_resident_bytes_; }
  [[nodiscard]] std::uint64_t pinned_capacity_bytes() const { return pinned_capacity_bytes_; }
  [[nodiscard]] std::uint64_t slot_capacity_bytes() const { return slots_memory_.size_bytes(); }

 private:
  enum class State : std::uint8_t { absent, in_flight, resident };
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;
  static constexpr UnitId kNoUnit = UINT32_MAX;

  // Memory of a pinned unit; a unit that takes it over may be smaller.
  struct Place {
    std::byte* data = nullptr;  // nullptr: streamed
    std::uint64_t capacity_bytes = 0;
  };

  [[nodiscard]] bool is_pinned(UnitId unit) const { return places_[unit].data != nullptr; }
  [[nodiscard]] std::span<std::byte> place(UnitId unit);
  [[nodiscard]] std::uint32_t free_slot() const;
  [[nodiscard]] std::uint32_t slot_used_last() const;
  void vacate(std::uint32_t slot);
  void pin_if_used_more(UnitId unit);
  [[nodiscard]] std::optional<UnitRead> read_wanted();
  [[nodiscard]] std::optional<UnitRead> prefetch();
  [[nodiscard]] UnitRead start(UnitId unit, std::uint32_t slot, bool urgent);

  std::vector<Unit> units_;
  std::vector<State> state_;
  std::vector<Place> places_;                 // into pinned_
  std::vector<std::uint32_t> uses_;           // of conditional units, since creation
  std::vector<std::uint32_t> slot_of_;        // of streamed units in flight or resident
  std::vector<UnitId> slot_unit_;             // per slot; kNoUnit: free
  UnitId wanted_ = kNoUnit;
  std::vector<UnitId> wanted_soon_;           // in the order asked
  std::vector<AlignedBuffer> pinned_;         // of create() and of each pin_more()
  AlignedBuffer slots_memory_;
  std::uint64_t slot_bytes_ = 0;
  std::uint64_t pinned_capacity_bytes_ = 0;
  UnitId cursor_ = 0;
  std::uint32_t absent_pinned_ = 0;
  std::uint64_t resident_bytes_ = 0;
  std::uint64_t peak_resident_bytes_ = 0;
};

}  // namespace layerstream::stream

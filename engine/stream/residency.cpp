// SPDX-License-Identifier: MIT
#include "stream/residency.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace layerstream::stream {
namespace {

// How many more uses earn a place: less would move units to and fro that are used equally often.
constexpr std::uint32_t kClearlyMore = 2;

}  // namespace

Result<Residency> Residency::create(std::vector<Unit> units, const Plan& plan) {
  Residency r;
  r.units_ = std::move(units);
  const std::size_t n = r.units_.size();
  r.state_.assign(n, State::absent);
  r.places_.assign(n, {});
  r.uses_.assign(n, 0);
  r.slot_of_.assign(n, kNoSlot);
  r.slot_bytes_ = padded_bytes(plan.slot_bytes);
  r.slots_memory_ = LS_TRY(AlignedBuffer::create(r.slot_bytes_ * plan.n_slots));
  r.slot_unit_.assign(plan.n_slots, kNoUnit);
  LS_CHECK(r.pin_more(plan));
  return r;
}

Result<void> Residency::pin_more(const Plan& plan) {
  if (std::find(state_.begin(), state_.end(), State::in_flight) != state_.end()) return fail(ErrorCode::bad_argument, "reads are in flight");
  std::vector<UnitId> added;
  std::uint64_t bytes = 0;
  for (UnitId unit = 0; unit < units_.size(); ++unit) {
    // A conditional unit may have lost its place to another one, whose plan bit is not set: the numbers are the same.
    if (!plan.pinned[unit] || is_pinned(unit)) continue;
    if (bytes + padded_bytes(units_[unit].bytes) + pinned_capacity_bytes_ > plan.pinned_bytes) continue;
    added.push_back(unit);
    bytes += padded_bytes(units_[unit].bytes);
  }
  AlignedBuffer memory = LS_TRY(AlignedBuffer::create(bytes));
  std::byte* at = memory.data();
  for (const UnitId unit : added) {
    const bool was_resident = state_[unit] == State::resident;
    if (was_resident) {
      std::memcpy(at, place(unit).data(), static_cast<std::size_t>(units_[unit].bytes));
      vacate(slot_of_[unit]);
    }
    places_[unit] = {at, padded_bytes(units_[unit].bytes)};
    at += padded_bytes(units_[unit].bytes);
    if (was_resident) {
      state_[unit] = State::resident;
      resident_bytes_ += units_[unit].bytes;
    } else {
      ++absent_pinned_;
    }
  }
  pinned_capacity_bytes_ += bytes;
  pinned_.push_back(std::move(memory));
  return {};
}

std::span<std::byte> Residency::place(UnitId unit) {
  const std::size_t bytes = static_cast<std::size_t>(units_[unit].bytes);
  if (is_pinned(unit)) return {places_[unit].data, bytes};
  return {slots_memory_.data() + slot_of_[unit] * slot_bytes_, bytes};
}

const std::byte* Residency::data(UnitId unit) const {
  if (state_[unit] != State::resident) return nullptr;
  return const_cast<Residency*>(this)->place(unit).data();
}

void Residency::want(UnitId unit) {
  if (state_[unit] != State::resident) wanted_ = unit;
}

void Residency::want_soon(UnitId unit) {
  if (state_[unit] != State::absent || unit < cursor_) return;  // before the cursor: this pass is done with it
  if (std::find(wanted_soon_.begin(), wanted_soon_.end(), unit) == wanted_soon_.end()) wanted_soon_.push_back(unit);
}

void Residency::release(UnitId unit) {
  if (state_[unit] != State::resident) return;
  if (unit == cursor_) ++cursor_;  // prefetch goes on behind it, not with it
  if (units_[unit].conditional) ++uses_[unit];
  if (is_pinned(unit)) return;
  if (units_[unit].conditional) pin_if_used_more(unit);
  if (!is_pinned(unit)) vacate(slot_of_[unit]);
}

// The pinned unit that was used least gives its place to `unit`, which is in a slot, if that was used clearly more often.
void Residency::pin_if_used_more(UnitId unit) {
  UnitId least = kNoUnit;
  for (UnitId other = 0; other < units_.size(); ++other) {
    if (!units_[other].conditional || !is_pinned(other) || state_[other] == State::in_flight) continue;
    if (places_[other].capacity_bytes < units_[unit].bytes) continue;
    if (least == kNoUnit || uses_[other] < uses_[least]) least = other;
  }
  if (least == kNoUnit || uses_[unit] < uses_[least] + kClearlyMore) return;
  if (state_[least] == State::resident) {
    resident_bytes_ -= units_[least].bytes;
  } else {
    --absent_pinned_;
  }
  state_[least] = State::absent;
  std::memcpy(places_[least].data, place(unit).data(), static_cast<std::size_t>(units_[unit].bytes));
  vacate(slot_of_[unit]);
  std::swap(places_[unit], places_[least]);
  state_[unit] = State::resident;
  resident_bytes_ += units_[unit].bytes;
}

void Residency::set_cursor(UnitId unit) { cursor_ = unit; }

void Residency::clear_wants() {
  wanted_ = kNoUnit;
  wanted_soon_.clear();
}

std::uint32_t Residency::free_slot() const {
  const auto it = std::find(slot_unit_.begin(), slot_unit_.end(), kNoUnit);
  return it == slot_unit_.end() ? kNoSlot : static_cast<std::uint32_t>(it - slot_unit_.begin());
}

// The resident slot whose unit comes last, seen from the cursor around the cycle (Belady's choice).
std::uint32_t Residency::slot_used_last() const {
  const std::size_t n = units_.size();
  std::uint32_t best = kNoSlot;
  std::size_t best_distance = 0;
  for (std::uint32_t slot = 0; slot < slot_unit_.size(); ++slot) {
    const UnitId unit = slot_unit_[slot];
    if (unit == kNoUnit || state_[unit] != State::resident) continue;
    const std::size_t distance = (unit + n - cursor_) % n;
    if (best == kNoSlot || distance > best_distance) {
      best = slot;
      best_distance = distance;
    }
  }
  return best;
}

void Residency::vacate(std::uint32_t slot) {
  const UnitId unit = slot_unit_[slot];
  if (state_[unit] == State::resident) resident_bytes_ -= units_[unit].bytes;
  state_[unit] = State::absent;
  slot_of_[unit] = kNoSlot;
  slot_unit_[slot] = kNoUnit;
}

UnitRead Residency::start(UnitId unit, std::uint32_t slot, bool urgent) {
  state_[unit] = State::in_flight;
  if (slot != kNoSlot) {
    slot_of_[unit] = slot;
    slot_unit_[slot] = unit;
  } else {
    --absent_pinned_;
  }
  return UnitRead{unit, place(unit), urgent};
}

std::optional<UnitRead> Residency::read_wanted() {
  if (wanted_ != kNoUnit && state_[wanted_] == State::absent) {
    if (is_pinned(wanted_)) return start(wanted_, kNoSlot, true);
    std::uint32_t slot = free_slot();
    if (slot == kNoSlot && (slot = slot_used_last()) != kNoSlot) vacate(slot);
    if (slot != kNoSlot) return start(wanted_, slot, true);
  }
  std::erase_if(wanted_soon_, [this](UnitId unit) { return state_[unit] != State::absent; });
  for (const UnitId unit : wanted_soon_) {
    if (is_pinned(unit)) return start(unit, kNoSlot, true);
    if (const std::uint32_t slot = free_slot(); slot != kNoSlot) return start(unit, slot, true);
  }
  return std::nullopt;
}

std::optional<UnitRead> Residency::prefetch() {
  const std::uint32_t slot = free_slot();
  if (slot == kNoSlot && absent_pinned_ == 0) return std::nullopt;
  const UnitId n = static_cast<UnitId>(units_.size());
  for (UnitId i = 0; i < n; ++i) {
    const UnitId unit = cursor_ + i < n ? cursor_ + i : cursor_ + i - n;
    if (state_[unit] != State::absent) continue;
    if (is_pinned(unit)) return start(unit, kNoSlot, false);
    if (slot != kNoSlot && !units_[unit].conditional) return start(unit, slot, false);
  }
  return std::nullopt;
}

std::optional<UnitRead> Residency::next_read() {
  if (auto read = read_wanted()) return read;
  if (!wanted_soon_.empty()) return std::nullopt;  // slots that become free are theirs
  return prefetch();
}

Result<void> Residency::complete(UnitId unit) {
  if (unit >= units_.size() || state_[unit] != State::in_flight) {
    return fail(ErrorCode::bad_argument, "unit " + std::to_string(unit) + " is not being read");
  }
  state_[unit] = State::resident;
  if (unit == wanted_) wanted_ = kNoUnit;
  resident_bytes_ += units_[unit].bytes;
  peak_resident_bytes_ = std::max(peak_resident_bytes_, resident_bytes_);
  return {};
}

Result<void> Residency::fail_read(UnitId unit) {
  if (unit >= units_.size() || state_[unit] != State::in_flight) {
    return fail(ErrorCode::bad_argument, "unit " + std::to_string(unit) + " is not being read");
  }
  if (is_pinned(unit)) {
    state_[unit] = State::absent;
    ++absent_pinned_;
  } else {
    vacate(slot_of_[unit]);
  }
  return {};
}

}  // namespace layerstream::stream

// SPDX-License-Identifier: MIT
#include "stream/residency.h"

#include <algorithm>
#include <string>

namespace layerstream::stream {
Result<Residency> Residency::create(std::vector<Unit> units, const Plan& plan) {
  Residency r;
  r.units_ = std::move(units);
  const std::size_t n = r.units_.size();
  r.state_.assign(n, State::absent);
  r.pinned_offset_.assign(n, UINT64_MAX);
  r.slot_of_.assign(n, kNoSlot);
  std::uint64_t pinned_bytes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!plan.pinned[i]) continue;
    r.pinned_offset_[i] = pinned_bytes;
    pinned_bytes += padded_bytes(r.units_[i].bytes);
    ++r.absent_pinned_;
  }
  r.pinned_ = LS_TRY(AlignedBuffer::create(pinned_bytes));
  r.slot_bytes_ = padded_bytes(plan.slot_bytes);
  r.slots_memory_ = LS_TRY(AlignedBuffer::create(r.slot_bytes_ * plan.n_slots));
  r.slot_unit_.assign(plan.n_slots, kNoUnit);
  return r;
}

std::span<std::byte> Residency::place(UnitId unit) {
  const std::size_t bytes = static_cast<std::size_t>(units_[unit].bytes);
  if (is_pinned(unit)) return {pinned_.data() + pinned_offset_[unit], bytes};
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
  if (!is_pinned(unit) && state_[unit] == State::resident) vacate(slot_of_[unit]);
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

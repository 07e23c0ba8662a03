// SPDX-License-Identifier: MIT
#include "stream/plan.h"

#include <algorithm>

#include "base/checked.h"

namespace layerstream::stream {
namespace {

// One slot computes while the next fills; more let the reader run ahead of short stages.
constexpr std::uint32_t kMinSlots = 2;
constexpr std::uint32_t kMaxSlots = 4;

std::uint64_t largest_streamed(std::span<const Unit> units, const std::vector<bool>& pinned) {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!pinned[i]) largest = std::max(largest, padded_bytes(units[i].bytes));
  }
  return largest;
}

std::string itemised(const PlanInput& input, std::uint64_t slot_bytes, std::uint64_t needed) {
  return "the smallest plan needs " + std::to_string(needed) + " bytes (fixed " + std::to_string(input.fixed_bytes) +
         ", kv " + std::to_string(input.kv_bytes) + ", activations " +
         std::to_string(input.base_activation_bytes + input.entry_activation_bytes) + ", " + std::to_string(kMinSlots) +
         " slots of " + std::to_string(slot_bytes) + "), the budget is " + std::to_string(input.budget_bytes);
}

// Pins whole stages, then single units, in execution order while they fit into `room`.
void pin(std::span<const Unit> units, std::uint64_t room, Plan& plan) {
  std::size_t begin = 0;
  while (begin < units.size()) {
    std::size_t end = begin;
    std::uint64_t stage_bytes = 0;
    while (end < units.size() && units[end].stage == units[begin].stage) stage_bytes += padded_bytes(units[end++].bytes);
    if (stage_bytes <= room) {
      for (std::size_t i = begin; i < end; ++i) plan.pinned[i] = true;
      room -= stage_bytes;
      plan.pinned_bytes += stage_bytes;
    }
    begin = end;
  }
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::uint64_t bytes = padded_bytes(units[i].bytes);
    if (plan.pinned[i] || bytes > room) continue;
    plan.pinned[i] = true;
    room -= bytes;
    plan.pinned_bytes += bytes;
  }
}

// Entries per pass for `room` bytes of activations; at least one.
std::uint32_t entries_for(const PlanInput& input, std::uint64_t room) {
  if (input.entry_activation_bytes == 0) return input.max_entries;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(room / input.entry_activation_bytes, 1, input.max_entries));
}

void set_entries(const PlanInput& input, std::uint32_t entries, Plan& plan) {
  plan.max_entries = entries;
  plan.activation_bytes = input.base_activation_bytes + entries * input.entry_activation_bytes;
}

void finish(const PlanInput& input, Plan& plan) {
  plan.slot_bytes = largest_streamed(input.units, plan.pinned);
  if (plan.slot_bytes == 0) plan.n_slots = 0;
  for (std::size_t i = 0; i < input.units.size(); ++i) {
    if (!plan.pinned[i]) plan.streamed_bytes_per_pass += input.units[i].bytes;
  }
}

}  // namespace

Result<Plan> make_plan(const PlanInput& input) {
  Plan plan;
  plan.pinned.assign(input.units.size(), false);
  plan.fixed_bytes = input.fixed_bytes;
  plan.kv_bytes = input.kv_bytes;
  plan.budget_bytes = input.budget_bytes;
  for (const Unit& unit : input.units) {
    const auto sum = checked_add(plan.weight_bytes, unit.bytes);
    if (!sum) return fail(ErrorCode::bad_file, "the tensors' sizes add up to more than 64 bits hold");
    plan.weight_bytes = *sum;
  }
  const std::uint64_t slot_bytes = largest_streamed(input.units, plan.pinned);
  const std::uint64_t resident = input.fixed_bytes + input.kv_bytes + input.base_activation_bytes;

  if (input.budget_bytes == kBudgetMinimum) {
    plan.n_slots = kMinSlots;
    set_entries(input, entries_for(input, kMinSlots * slot_bytes), plan);
    finish(input, plan);
    return plan;
  }

  // Everything resident, with as many entries as fit beside it (at least a quarter of what is asked, else stream).
  const std::uint32_t wanted = std::max<std::uint32_t>(1, input.max_entries);
  std::uint64_t padded_weights = 0;
  for (const Unit& unit : input.units) padded_weights += padded_bytes(unit.bytes);
  const std::uint64_t all = resident + padded_weights;
  if (input.budget_bytes >= all && (input.budget_bytes - all) / std::max<std::uint64_t>(1, input.entry_activation_bytes) >= std::max(1u, wanted / 4)) {
    set_entries(input, entries_for(input, input.budget_bytes - all), plan);
    pin(input.units, padded_weights, plan);
    finish(input, plan);
    return plan;
  }

  const std::uint64_t smallest = resident + input.entry_activation_bytes + kMinSlots * slot_bytes;
  if (smallest > input.budget_bytes) return fail(ErrorCode::budget_too_small, itemised(input, slot_bytes, smallest));

  // A prompt that needs a second sweep reads every streamed byte again, so entries come before pinning, up to half of
  // what is left; then slots, then pinned weights.
  std::uint64_t room = input.budget_bytes - smallest;
  set_entries(input, entries_for(input, input.entry_activation_bytes + room / 2), plan);
  room -= plan.activation_bytes - input.base_activation_bytes - input.entry_activation_bytes;
  plan.n_slots = kMinSlots;
  while (plan.n_slots < kMaxSlots && room / 4 >= slot_bytes) {
    ++plan.n_slots;
    room -= slot_bytes;
  }
  pin(input.units, room, plan);
  finish(input, plan);
  return plan;
}

}  // namespace layerstream::stream

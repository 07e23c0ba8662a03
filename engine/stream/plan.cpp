// SPDX-License-Identifier: MIT
#include "stream/plan.h"

#include <algorithm>

#include "base/checked.h"

namespace layerstream::stream {
namespace {

// One slot computes while the others fill: matrices differ in size, so the reader must be able to run ahead of short ones.
constexpr std::uint32_t kMinSlots = 3;
constexpr std::uint32_t kMaxSlots = 8;

std::uint64_t largest_streamed(std::span<const Unit> units, const std::vector<bool>& pinned) {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!pinned[i]) largest = std::max(largest, padded_bytes(units[i].bytes));
  }
  return largest;
}

// An entry of a pass that is one chunk.
std::uint64_t one_entry_bytes(const PlanInput& input) { return input.entry_bytes + input.chunk_entry_bytes; }

// weights: what it has of them in memory.
std::string itemised(const PlanInput& input, const std::string& weights, std::uint64_t needed) {
  return "the smallest plan needs " + std::to_string(needed) + " bytes (fixed " + std::to_string(input.fixed_bytes) +
         ", kv " + std::to_string(input.kv_bytes) + ", activations " +
         std::to_string(input.base_activation_bytes + one_entry_bytes(input)) + ", sampler " +
         std::to_string(input.sampler_bytes) + ", " + weights + "), the budget is " + std::to_string(input.budget_bytes);
}

bool takes(const Unit& unit, bool conditional, bool pinned) { return unit.conditional == conditional && !pinned; }

// Pins units of one kind in execution order, as many as fit into `room`; returns what is left of it. First each where the
// share of bytes pinned so far falls behind the share that can be pinned, which spreads them evenly; then whatever still fits.
std::uint64_t pin_kind(std::span<const Unit> units, bool conditional, std::uint64_t room, Plan& plan) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (takes(units[i], conditional, plan.pinned[i])) total += padded_bytes(units[i].bytes);
  }
  const double share = total == 0 ? 0 : std::min(1.0, static_cast<double>(room) / static_cast<double>(total));
  for (const bool spread : {true, false}) {
    std::uint64_t seen = 0, taken = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!takes(units[i], conditional, plan.pinned[i])) continue;
      const std::uint64_t bytes = padded_bytes(units[i].bytes);
      seen += bytes;
      if (bytes > room || (spread && static_cast<double>(taken + bytes) > share * static_cast<double>(seen))) continue;
      plan.pinned[i] = true;
      taken += bytes;
      room -= bytes;
      plan.pinned_bytes += bytes;
    }
  }
  return room;
}

void pin(std::span<const Unit> units, std::uint64_t room, Plan& plan) {
  pin_kind(units, true, pin_kind(units, false, room, plan), plan);
}

// Entries that fit into `room`; between 1 and `limit`.
std::uint32_t entries_for(std::uint64_t room, std::uint64_t entry_bytes, std::uint32_t limit) {
  if (entry_bytes == 0) return limit;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(room / entry_bytes, 1, limit));
}

// What an answer is taken to be long when reading a prompt in fewer sweeps is weighed against pinning more.
constexpr std::uint64_t kTypicalAnswer = 64;

// How many entries a pass takes when weights are streamed: those with which a prompt of `limit` tokens and an answer read the
// fewest bytes. Each entry takes memory that could pin weights, each further sweep reads all streamed ones again.
std::uint32_t best_entries(const PlanInput& input, std::uint32_t limit, std::uint64_t room, std::uint64_t weight_bytes) {
  std::uint32_t best = 0;
  double least = 0;
  for (std::uint32_t sweeps = 1; sweeps <= limit; ++sweeps) {
    const std::uint32_t entries = (limit + sweeps - 1) / sweeps;
    const std::uint64_t extra = (entries - 1) * one_entry_bytes(input);
    if (extra > room) continue;
    const std::uint64_t streamed = weight_bytes - std::min(weight_bytes, room - extra);
    const double bytes_read = static_cast<double>(sweeps + kTypicalAnswer) * static_cast<double>(streamed);
    if (best != 0 && bytes_read >= least) continue;
    best = entries;
    least = bytes_read;
  }
  return best;  // one entry needs nothing extra, so there is one
}

void set_entries(const PlanInput& input, std::uint32_t entries, std::uint32_t chunk_entries, Plan& plan) {
  plan.max_entries = entries;
  plan.chunk_entries = chunk_entries;
  plan.activation_bytes = input.base_activation_bytes + entries * input.entry_bytes + chunk_entries * input.chunk_entry_bytes;
}

// With everything pinned a prompt goes through in as few sweeps as fit into `room`: weights that are still on their way are
// met by all of it at once, and the rows of entries beyond a chunk are small.
void set_resident_entries(const PlanInput& input, std::uint32_t chunk_limit, std::uint64_t room, Plan& plan) {
  const std::uint32_t chunk = entries_for(room, one_entry_bytes(input), chunk_limit);
  const std::uint64_t left = room - std::min(room, chunk * one_entry_bytes(input));
  const std::uint32_t more = left < input.entry_bytes || chunk >= input.max_entries ? 0 : entries_for(left, input.entry_bytes, input.max_entries - chunk);
  set_entries(input, chunk + more, chunk, plan);
}

void finish(const PlanInput& input, Plan& plan) {
  plan.slot_bytes = largest_streamed(input.units, plan.pinned);
  if (plan.slot_bytes == 0) plan.n_slots = 0;
  std::uint64_t conditional = 0;
  plan.streamed_bytes_per_pass = 0;
  for (std::size_t i = 0; i < input.units.size(); ++i) {
    if (plan.pinned[i]) continue;
    plan.streamed_bytes_per_pass += input.units[i].bytes;
    if (input.units[i].conditional) conditional += input.units[i].bytes;
  }
  const double used = static_cast<double>(conditional) * input.conditional_share;
  plan.read_bytes_per_token = plan.streamed_bytes_per_pass - conditional + static_cast<std::uint64_t>(used);
}

}  // namespace

Result<Plan> make_plan(const PlanInput& input) {
  Plan plan;
  plan.pinned.assign(input.units.size(), false);
  plan.fixed_bytes = input.fixed_bytes;
  plan.kv_bytes = input.kv_bytes;
  plan.sampler_bytes = input.sampler_bytes;
  plan.budget_bytes = input.budget_bytes;
  for (const Unit& unit : input.units) {
    const auto sum = checked_add(plan.weight_bytes, unit.bytes);
    if (!sum) return fail(ErrorCode::bad_file, "the tensors' sizes add up to more than 64 bits hold");
    plan.weight_bytes = *sum;
  }
  const std::uint64_t slot_bytes = largest_streamed(input.units, plan.pinned);
  const std::uint64_t resident = input.fixed_bytes + input.kv_bytes + input.base_activation_bytes + input.sampler_bytes;
  // Streamed weights are read once for a chunk, so that a pass is one.
  const std::uint32_t chunk_limit = std::max<std::uint32_t>(1, std::min(input.max_entries, input.max_chunk_entries));
  // Everything resident, with at least a quarter of a whole chunk; else weights are streamed.
  std::uint64_t padded_weights = 0;
  for (const Unit& unit : input.units) padded_weights += padded_bytes(unit.bytes);
  const std::uint64_t all = resident + padded_weights;
  const std::uint64_t all_resident = all + std::max(1u, chunk_limit / 4) * one_entry_bytes(input);
  const std::uint64_t smallest_streamed = resident + one_entry_bytes(input) + kMinSlots * slot_bytes;
  plan.smallest_bytes = std::min(all_resident, smallest_streamed);  // of few weights, three slots may be more than all

  if (input.budget_bytes == kBudgetMinimum) {
    plan.n_slots = kMinSlots;
    const std::uint32_t entries = entries_for(kMinSlots * slot_bytes, one_entry_bytes(input), chunk_limit);
    set_entries(input, entries, entries, plan);
    finish(input, plan);
    return plan;
  }

  if (input.budget_bytes >= all_resident) {
    set_resident_entries(input, chunk_limit, input.budget_bytes - all, plan);
    pin(input.units, padded_weights, plan);
    finish(input, plan);
    return plan;
  }

  if (plan.smallest_bytes > input.budget_bytes) {
    const std::string slots = std::to_string(kMinSlots) + " slots of " + std::to_string(slot_bytes);
    const std::string weights = plan.smallest_bytes == smallest_streamed ? slots : "all weights " + std::to_string(padded_weights);
    return fail(ErrorCode::budget_too_small, itemised(input, weights, plan.smallest_bytes));
  }

  std::uint64_t room = input.budget_bytes - smallest_streamed;
  const std::uint32_t entries = best_entries(input, chunk_limit, room, padded_weights);
  set_entries(input, entries, entries, plan);
  room -= (entries - 1) * one_entry_bytes(input);
  plan.n_slots = kMinSlots;
  while (plan.n_slots < kMaxSlots && room / 4 >= slot_bytes) {
    ++plan.n_slots;
    room -= slot_bytes;
  }
  pin(input.units, room, plan);
  finish(input, plan);
  return plan;
}

Plan raise_plan(const PlanInput& input, const Plan& plan) {
  Plan raised = plan;
  raised.budget_bytes = input.budget_bytes;
  if (input.budget_bytes > plan.total_bytes()) pin(input.units, input.budget_bytes - plan.total_bytes(), raised);
  finish(input, raised);
  raised.slot_bytes = plan.slot_bytes;  // the slots stay as they are, also when nothing is left to stream
  raised.n_slots = plan.n_slots;
  return raised;
}

}  // namespace layerstream::stream

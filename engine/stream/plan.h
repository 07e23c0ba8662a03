#pragma once
// SPDX-License-Identifier: MIT
// How a memory budget is spent, decided from sizes alone before any weight is there. A pure function.
//
// For a cyclic sweep a fixed pinned set is optimal and LRU is the worst choice: as many units as fit are pinned, spread
// evenly over the pass, so that the reader always has something to fetch while pinned ones compute; the rest streams
// through slots. Conditional units (experts) come last: a pass may not need them.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "stream/units.h"

namespace layerstream::stream {

inline constexpr std::uint64_t kBudgetUnlimited = UINT64_MAX;
// The smallest plan that works: three slots, nothing pinned, activations no larger than the slots.
inline constexpr std::uint64_t kBudgetMinimum = 0;

struct PlanInput {
  std::span<const Unit> units;
  std::uint64_t fixed_bytes = 0;       // always resident: norms, biases, tables, tokenizer
  std::uint64_t kv_bytes = 0;
  std::uint64_t base_activation_bytes = 0;   // independent of the number of entries: logits row, attention scratch
  std::uint64_t entry_bytes = 0;             // per entry of a pass: its row of the residual stream
  std::uint64_t chunk_entry_bytes = 0;       // per entry of a chunk, in addition: what is needed only inside a block
  std::uint64_t sampler_bytes = 0;           // candidates, masks, histories of one answer
  std::uint32_t max_entries = 1;             // upper limit for entries per pass
  std::uint32_t max_chunk_entries = 1;       // upper limit for entries per chunk
  double conditional_share = 1;              // of the conditional units, what a pass with one entry uses
  std::uint64_t budget_bytes = kBudgetUnlimited;
};

struct Plan {
  std::vector<bool> pinned;        // per unit
  std::uint32_t n_slots = 0;       // 0 when everything is pinned
  std::uint64_t slot_bytes = 0;    // of one slot: the largest streamed unit
  std::uint32_t max_entries = 1;   // per pass
  std::uint32_t chunk_entries = 1; // that go through a block together; fewer than max_entries only when everything is pinned
  std::uint64_t fixed_bytes = 0;
  std::uint64_t kv_bytes = 0;
  std::uint64_t activation_bytes = 0;
  std::uint64_t sampler_bytes = 0;
  std::uint64_t pinned_bytes = 0;
  std::uint64_t streamed_bytes_per_pass = 0;  // weight bytes a pass reads at most once the pinned ones are there
  std::uint64_t read_bytes_per_token = 0;     // the same for a pass with one entry, which uses its share of the experts
  std::uint64_t weight_bytes = 0;             // all units
  std::uint64_t budget_bytes = 0;
  std::uint64_t smallest_bytes = 0;           // the least budget that is not refused, with units of this size

  [[nodiscard]] std::uint64_t slots_bytes() const { return n_slots * slot_bytes; }
  [[nodiscard]] std::uint64_t total_bytes() const {
    return fixed_bytes + kv_bytes + activation_bytes + sampler_bytes + pinned_bytes + slots_bytes();
  }
  // Passes that a prompt of n tokens takes.
  [[nodiscard]] std::uint64_t sweeps(std::uint64_t n_tokens) const { return (n_tokens + max_entries - 1) / max_entries; }
};

// budget_too_small with an itemised message when even the smallest plan does not fit.
[[nodiscard]] Result<Plan> make_plan(const PlanInput& input);

// A live plan under the larger budget of `input`: the same entries, cache and slots, more pinned units. Never fewer: under a
// smaller budget it is `plan` with another limit, and the caller compares.
[[nodiscard]] Plan raise_plan(const PlanInput& input, const Plan& plan);

}  // namespace layerstream::stream

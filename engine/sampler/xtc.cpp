// SPDX-License-Identifier: MIT
// XTC. The choice that stays is found by one scan: the last of the order among those that are probable enough.

#include "sampler/softmax.h"
#include "sampler/steps.h"

namespace layerstream {

void exclude_top_choices(Candidates& candidates, const SamplerConfig& config, Rng& rng) {
  if (config.xtc_probability <= 0.0f || config.xtc_threshold > 0.5f) return;
  if (rng.next_uniform() >= static_cast<double>(config.xtc_probability)) return;
  const Softmax softmax(candidates);
  const double least = math::log(static_cast<double>(config.xtc_threshold));
  const auto is_choice = [&](const Candidate& candidate) { return softmax.log_probability(candidate.logit) >= least; };
  const Candidate* last = nullptr;
  for (const Candidate& candidate : candidates.items()) {
    if (is_choice(candidate) && (last == nullptr || last->before(candidate))) last = &candidate;
  }
  if (last == nullptr) return;
  const std::int32_t stays = last->id;
  candidates.keep_if([&](const Candidate& candidate) { return candidate.id == stays || !is_choice(candidate); });
}

}  // namespace layerstream

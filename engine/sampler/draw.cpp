// SPDX-License-Identifier: MIT
// The multinomial draw: the first candidate at which the running sum of e^(logit - highest) passes u * total.

#include "base/math.h"
#include "sampler/steps.h"

namespace layerstream {

std::int32_t draw(const Candidates& candidates, Rng& rng) {
  const double highest = candidates.highest_logit();
  double total = 0.0;
  for (const Candidate& candidate : candidates.items()) total += math::exp(candidate.logit - highest);

  const double target = rng.next_uniform() * total;
  double sum = 0.0;
  std::int32_t last = candidates.items().front().id;
  for (const Candidate& candidate : candidates.items()) {
    const double weight = math::exp(candidate.logit - highest);
    if (weight > 0.0) last = candidate.id;
    sum += weight;
    if (sum > target) return last;
  }
  return last;  // u * total rounded up to total
}

}  // namespace layerstream

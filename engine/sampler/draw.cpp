// SPDX-License-Identifier: MIT
// The multinomial draw: the first candidate at which the running sum of e^(logit - highest) passes u * total.

#include "sampler/softmax.h"
#include "sampler/steps.h"

namespace layerstream {

Draw draw(const Candidates& candidates, Rng& rng) {
  const Softmax softmax(candidates);
  const double target = rng.next_uniform() * softmax.total_weight();
  double sum = 0.0;
  Draw last;
  for (const Candidate& candidate : candidates.items()) {
    const double weight = softmax.weight(candidate.logit);
    if (weight > 0.0) last = {candidate.id, weight / softmax.total_weight()};
    sum += weight;
    if (sum > target) return last;
  }
  return last;  // u * total rounded up to total
}

}  // namespace layerstream

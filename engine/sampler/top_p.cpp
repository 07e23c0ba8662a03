// SPDX-License-Identifier: MIT
// top-p (nucleus). Candidates so improbable that all of them together do not make up the 1 - p outside are dropped
// first, which leaves little of a large vocabulary to sort; half of that bound, so that no rounding matters.

#include "sampler/softmax.h"
#include "sampler/steps.h"

namespace layerstream {

void keep_top_p(Candidates& candidates, float p) {
  if (p >= 1.0f || candidates.size() < 2) return;
  const Softmax softmax(candidates);
  const double outside = 1.0 - static_cast<double>(p);
  const double least = math::log(0.5 * outside / static_cast<double>(candidates.size()));
  candidates.keep_if([&](const Candidate& candidate) { return softmax.log_probability(candidate.logit) >= least; });

  const double target = static_cast<double>(p) * softmax.total_weight();
  double sum = 0.0;
  candidates.keep_until([&](const Candidate& candidate) {
    sum += softmax.weight(candidate.logit);
    return sum >= target;
  });
}

}  // namespace layerstream

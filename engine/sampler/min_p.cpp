// SPDX-License-Identifier: MIT
// min-p: p >= min_p * p_max is logit >= highest + ln(min_p); no sort and one logarithm.

#include "base/math.h"
#include "sampler/steps.h"

namespace layerstream {

void keep_min_p(Candidates& candidates, float min_p) {
  if (min_p <= 0.0f) return;
  const double least = static_cast<double>(candidates.highest_logit()) + math::log(static_cast<double>(min_p));
  candidates.keep_if([least](const Candidate& candidate) { return static_cast<double>(candidate.logit) >= least; });
}

}  // namespace layerstream

// SPDX-License-Identifier: MIT
// Temperature. The highest logit is taken off first: it becomes 0 and all others fall below, so that even the
// smallest temperature cannot overflow upward; downward it stops at the lowest float.

#include <algorithm>
#include <limits>

#include "sampler/steps.h"

namespace layerstream {

void apply_temperature(Candidates& candidates, float temperature) {
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  const double highest = candidates.highest_logit();
  for (Candidate& candidate : candidates.mutable_items()) {
    const double scaled = (candidate.logit - highest) / static_cast<double>(temperature);
    candidate.logit = static_cast<float>(std::max(scaled, kLowest));
  }
}

}  // namespace layerstream

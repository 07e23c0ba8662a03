// SPDX-License-Identifier: MIT
// top-p (nucleus). The front is sorted in growing portions, as a nucleus is mostly a few tokens of a large
// vocabulary; sums run in the sorted order, so the portions do not show in the result.

#include "base/math.h"
#include "sampler/steps.h"

namespace layerstream {

void keep_top_p(Candidates& candidates, float p) {
  if (p >= 1.0f || candidates.size() < 2) return;
  const double highest = candidates.highest_logit();
  double total = 0.0;
  for (const Candidate& candidate : candidates.items()) total += math::exp(candidate.logit - highest);

  const double target = static_cast<double>(p) * total;
  double sum = 0.0;
  std::size_t portion = 64;  // first try; then four times as many
  for (std::size_t kept = 0; kept < candidates.size(); ++kept) {
    if (kept == 0 || kept == portion) {
      if (kept != 0) portion *= 4;
      candidates.sort_first(portion);
    }
    sum += math::exp(candidates.items()[kept].logit - highest);
    if (sum >= target) return candidates.keep_first(kept + 1);
  }
}

}  // namespace layerstream

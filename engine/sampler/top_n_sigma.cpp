// SPDX-License-Identifier: MIT
// top-n-sigma (Tang et al.): the noise of logits is about Gaussian, what is n deviations below the best belongs to it.

#include <cmath>

#include "sampler/steps.h"

namespace layerstream {

void keep_top_n_sigma(Candidates& candidates, float n) {
  if (n <= 0.0f || candidates.size() < 2) return;
  const double count = static_cast<double>(candidates.size());
  double sum = 0.0;
  for (const Candidate& candidate : candidates.items()) sum += static_cast<double>(candidate.logit);
  const double mean = sum / count;
  double squares = 0.0;
  for (const Candidate& candidate : candidates.items()) {
    const double deviation = static_cast<double>(candidate.logit) - mean;
    squares += deviation * deviation;
  }
  const double sigma = std::sqrt(squares / count);
  const double least = static_cast<double>(candidates.highest_logit()) - static_cast<double>(n) * sigma;
  candidates.keep_if([least](const Candidate& candidate) { return static_cast<double>(candidate.logit) >= least; });
}

}  // namespace layerstream

// SPDX-License-Identifier: MIT
// Locally typical sampling: the distance of a candidate is how far its surprise -ln p is from the entropy, the
// surprise to expect.

#include <cmath>

#include "sampler/softmax.h"
#include "sampler/steps.h"

namespace layerstream {

void keep_typical(Candidates& candidates, float p) {
  if (p >= 1.0f) return;
  const Softmax softmax(candidates);
  const double entropy = softmax.entropy();
  const auto distance = [&](const Candidate& candidate) { return std::fabs(softmax.log_probability(candidate.logit) + entropy); };
  const auto before = [&](const Candidate& a, const Candidate& b) {
    const double of_a = distance(a);
    const double of_b = distance(b);
    return of_a != of_b ? of_a < of_b : a.id < b.id;
  };
  const double target = static_cast<double>(p) * softmax.total_weight();
  double sum = 0.0;
  candidates.keep_until(before, [&](const Candidate& candidate) {
    sum += softmax.weight(candidate.logit);
    return sum > target;
  });
}

}  // namespace layerstream

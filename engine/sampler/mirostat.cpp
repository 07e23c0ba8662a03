// SPDX-License-Identifier: MIT
// Mirostat version 2. The surprise of a candidate is -log2 p; that of the draw counts among those that were left.

#include "sampler/softmax.h"
#include "sampler/steps.h"

namespace layerstream {
namespace {

constexpr double kLn2 = 0.69314718055994531;

}  // namespace

Draw draw_mirostat(Candidates& candidates, const SamplerConfig& config, double& max_surprise, Rng& rng) {
  const Softmax softmax(candidates);
  const double least = -max_surprise * kLn2;
  if (softmax.log_probability(candidates.highest_logit()) < least) {
    candidates.keep_first(1);
  } else {
    candidates.keep_if([&](const Candidate& candidate) { return softmax.log_probability(candidate.logit) >= least; });
  }
  const Draw drawn = draw(candidates, rng);
  const double surprise = -math::log(drawn.probability) / kLn2;
  max_surprise -= static_cast<double>(config.mirostat_eta) * (surprise - static_cast<double>(config.mirostat_tau));
  return drawn;
}

}  // namespace layerstream

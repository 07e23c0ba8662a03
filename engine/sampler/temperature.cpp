// SPDX-License-Identifier: MIT
// Temperature. Where the highest logit would leave the range of floats it is taken off first: it becomes 0 and all others
// fall below, down to the lowest float at most.

#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/softmax.h"
#include "sampler/steps.h"

namespace layerstream {
namespace {

// From temperature - range to temperature + range as the entropy goes from 0 to its maximum, ln of the count.
double dynamic_temperature(const Candidates& candidates, const SamplerConfig& config) {
  const double temperature = static_cast<double>(config.temperature);
  if (config.dynatemp_range <= 0.0f || candidates.size() < 2) return temperature;
  const double range = static_cast<double>(config.dynatemp_range);
  const double lowest = std::max(0.0, temperature - range);
  const double highest = temperature + range;
  const double share = std::clamp(Softmax(candidates).entropy() / math::log(static_cast<double>(candidates.size())), 0.0, 1.0);
  const double exponent = static_cast<double>(config.dynatemp_exponent);
  const double curved = exponent == 0.0 ? 1.0 : math::pow(share, exponent);  // pow has no 0^0
  return lowest + (highest - lowest) * curved;
}

}  // namespace

void apply_temperature(Candidates& candidates, const SamplerConfig& config) {
  const double temperature = config.temperature <= 0.0f ? 0.0 : dynamic_temperature(candidates, config);
  if (temperature <= 0.0) return candidates.keep_first(1);
  const double highest = static_cast<double>(candidates.highest_logit());
  const bool fits = std::fabs(highest) / temperature <= static_cast<double>(std::numeric_limits<float>::max());
  const double zero = fits ? 0.0 : highest;
  candidates.change_all([=](double logit) { return (logit - zero) / temperature; });
}

}  // namespace layerstream

// SPDX-License-Identifier: MIT
// The chain.

#include "sampler/sampler.h"

#include <bit>
#include <cmath>
#include <string>

#include "sampler/steps.h"

namespace layerstream {
namespace {

// Position of the first NaN or infinity; size() if there is none.
std::size_t find_non_finite(std::span<const float> logits) {
  constexpr std::uint32_t kExponent = 0x7f800000u;
  std::size_t i = 0;
  while (i < logits.size() && (std::bit_cast<std::uint32_t>(logits[i]) & kExponent) != kExponent) ++i;
  return i;
}

// The highest logit, ties to the lowest id.
std::int32_t greedy(std::span<const float> logits) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<std::int32_t>(best);
}

}  // namespace

Result<Sampler> Sampler::create(const SamplerConfig& config) {
  const auto check = [](const char* name, float value) -> Result<void> {
    if (std::isfinite(value)) return {};
    return fail(ErrorCode::bad_argument, std::string(name) + " is not a finite number");
  };
  LS_CHECK(check("temperature", config.temperature));
  LS_CHECK(check("top_p", config.top_p));
  LS_CHECK(check("min_p", config.min_p));
  if (config.top_p < 0.0f) return fail(ErrorCode::bad_argument, "top_p is " + std::to_string(config.top_p) + ", below 0");
  if (config.min_p > 1.0f) return fail(ErrorCode::bad_argument, "min_p is " + std::to_string(config.min_p) + ", above 1");
  return Sampler(config);
}

Result<std::int32_t> Sampler::sample(std::span<const float> logits, std::size_t n_tokens) {
  if (n_tokens == 0 || n_tokens > logits.size()) {
    return fail(ErrorCode::bad_argument,
                std::to_string(n_tokens) + " tokens to draw from " + std::to_string(logits.size()) + " logits");
  }
  if (const std::size_t at = find_non_finite(logits); at != logits.size()) {
    return fail(ErrorCode::non_finite, "logit " + std::to_string(at) + " of " + std::to_string(logits.size()) + " is not finite");
  }
  const std::span<const float> drawable = logits.first(n_tokens);
  if (config_.temperature <= 0.0f) return greedy(drawable);

  candidates_.assign(drawable);
  keep_top_k(candidates_, config_.top_k);
  keep_top_p(candidates_, config_.top_p);
  keep_min_p(candidates_, config_.min_p);
  apply_temperature(candidates_, config_.temperature);
  return draw(candidates_, rng_);
}

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// Logits -> token. A chain of small steps in the field's usual order (llama.cpp's default):
// top-k, top-p, min-p, temperature, then a draw. Deterministic on every build: own RNG, own exp,
// orders by (value, id).

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "sampler/candidates.h"
#include "sampler/rng.h"

namespace layerstream {

struct SamplerConfig {
  float temperature = 0.0f;  // <= 0: greedy (highest logit, ties to the lowest id)
  std::int32_t top_k = 0;    // <= 0: off
  float top_p = 1.0f;        // >= 1: off; keeps the shortest prefix whose probability reaches top_p
  float min_p = 0.0f;        // <= 0: off; keeps p >= min_p * p_max
  std::uint64_t seed = 0;
};

class Sampler {
 public:
  // bad_argument for NaN or infinite settings, top_p < 0, min_p > 1.
  [[nodiscard]] static Result<Sampler> create(const SamplerConfig& config);

  // logits [vocab_size]; ids at or above `n_tokens` (padding rows) are never drawn.
  // bad_argument unless 1 <= n_tokens <= vocab_size; non_finite if any logit is NaN or infinite.
  [[nodiscard]] Result<std::int32_t> sample(std::span<const float> logits, std::size_t n_tokens);

  [[nodiscard]] const SamplerConfig& config() const { return config_; }

 private:
  explicit Sampler(const SamplerConfig& config) : config_(config), rng_(config.seed) {}

  SamplerConfig config_;
  Rng rng_;
  Candidates candidates_;  // memory kept from draw to draw
};

}  // namespace layerstream

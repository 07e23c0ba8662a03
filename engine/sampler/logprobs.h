#pragma once
// SPDX-License-Identifier: MIT
// Log-probabilities of a drawn token and of the most probable ones, by softmax over all tokens at temperature 1.

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/candidates.h"

namespace layerstream {

struct TokenLogprob {
  std::int32_t id = 0;
  double logprob = 0.0;  // nats, <= 0
};

struct Logprobs {
  TokenLogprob drawn;
  std::vector<TokenLogprob> top;  // most probable first, ties by id
};

// `scratch` lends its memory.
[[nodiscard]] Logprobs log_probabilities(std::span<const float> logits, std::int32_t drawn, std::size_t n_top, Candidates& scratch);

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// Logits -> token: mask, logit bias and bans, then a chain of small steps in a settable order, then a draw.
// Deterministic on every build: own RNG, own exp, orders by (value, id). One sampler serves one answer: the random
// sequence and Mirostat's state begin with it.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "sampler/candidates.h"
#include "sampler/config.h"
#include "sampler/dry.h"
#include "sampler/history.h"
#include "sampler/logprobs.h"
#include "sampler/penalties.h"
#include "sampler/rng.h"

namespace layerstream {

// Where constrained decoding comes in: looks at the logits before every other step and sets those of tokens that must not
// be drawn to -inf (NaN and +inf are an error). What it allows depends on what was drawn, which is its owner's business.
class LogitMask {
 public:
  virtual ~LogitMask() = default;
  virtual Result<void> apply(std::span<float> logits) = 0;  // [n_tokens]
};

class Sampler {
 public:
  // Draws ids below n_tokens. bad_argument for settings that `check` refuses.
  [[nodiscard]] static Result<Sampler> create(SamplerConfig config, std::size_t n_tokens);

  // The most that drawing from n_tokens logits takes, all steps on; what grows with the history is small.
  [[nodiscard]] static std::uint64_t memory_bytes(std::size_t n_tokens);

  // logits [vocab_size >= n_tokens]; rows at or above n_tokens (padding) are never drawn. `history` are the tokens
  // before, for penalties and DRY. bad_argument for too few logits; non_finite if a logit is NaN or infinite;
  // no_candidates if every token is banned or masked; and what the mask fails with.
  [[nodiscard]] Result<std::int32_t> sample(std::span<const float> logits, History history, LogitMask* mask = nullptr);

  // Of the logits as they came from the model, whatever the settings. logits as above, all finite; id < n_tokens.
  [[nodiscard]] Logprobs logprobs(std::span<const float> logits, std::int32_t id, std::size_t n_top);

  [[nodiscard]] const SamplerConfig& config() const { return config_; }

 private:
  Sampler(SamplerConfig config, std::size_t n_tokens);

  // The logits that go in, as the mask leaves them; refers to `logits` or to masked_.
  [[nodiscard]] Result<std::span<const float>> drawable(std::span<const float> logits, LogitMask* mask);
  void run_step(SamplerStep step, History history);

  SamplerConfig config_;
  std::size_t n_tokens_ = 0;
  std::vector<TokenValue> addends_;    // of the logit bias
  std::vector<std::int32_t> banned_;   // ascending
  Penalties penalties_;
  Dry dry_;
  Rng rng_;
  double max_surprise_ = 0.0;  // Mirostat's state, bits
  // Memory kept from draw to draw.
  Candidates candidates_;
  std::vector<float> masked_;
};

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// What a caller can set about the choice of tokens. The defaults are greedy with everything off; a setting's own
// default (dry_base, xtc_threshold ...) counts once the step is switched on.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace layerstream {

// The steps whose order can be set; kSamplerNames has their names.
enum class SamplerStep : std::uint8_t { penalties, dry, top_n_sigma, top_k, typical_p, top_p, min_p, xtc, temperature };

// Names and default order are the field's (llama.cpp's).
inline constexpr std::array<std::pair<std::string_view, SamplerStep>, 9> kSamplerNames = {{
    {"penalties", SamplerStep::penalties},
    {"dry", SamplerStep::dry},
    {"top_n_sigma", SamplerStep::top_n_sigma},
    {"top_k", SamplerStep::top_k},
    {"typ_p", SamplerStep::typical_p},
    {"top_p", SamplerStep::top_p},
    {"min_p", SamplerStep::min_p},
    {"xtc", SamplerStep::xtc},
    {"temperature", SamplerStep::temperature},
}};

// In the order of kSamplerNames.
[[nodiscard]] std::vector<SamplerStep> default_samplers();

// "top_k;temperature" -> steps; "" -> none. bad_argument for an unknown name.
[[nodiscard]] Result<std::vector<SamplerStep>> parse_samplers(std::string_view names);

struct LogitBias {
  std::int32_t id = 0;
  float addend = 0.0f;  // -inf bans the token
};

struct SamplerConfig {
  float temperature = 0.0f;        // <= 0: greedy (highest logit, ties to the lowest id)
  float dynatemp_range = 0.0f;     // > 0: between temperature - range (at least 0) and temperature + range, by entropy
  float dynatemp_exponent = 1.0f;  // of the entropy's share of its maximum
  std::int32_t top_k = 0;          // <= 0: off
  float top_p = 1.0f;              // >= 1: off; keeps the shortest prefix whose probability reaches top_p
  float min_p = 0.0f;              // <= 0: off; keeps p >= min_p * p_max
  float typical_p = 1.0f;          // >= 1: off; keeps the most typical ones until their probability passes typical_p
  float top_n_sigma = -1.0f;       // <= 0: off; keeps logits within so many standard deviations of the highest

  float xtc_probability = 0.0f;  // 0: off; how often the step acts
  float xtc_threshold = 0.1f;    // > 0.5: off; of the tokens at least so probable only the least probable one stays

  float dry_multiplier = 0.0f;          // 0: off
  float dry_base = 1.75f;               // at least 1
  std::int32_t dry_allowed_length = 2;  // repeats below it are free
  std::int32_t dry_last_n = -1;         // tokens looked at; -1: the whole context
  std::vector<std::vector<std::int32_t>> dry_breakers = {};  // token sequences that no repeat reaches across

  float repeat_penalty = 1.0f;  // 1: off; > 0
  float frequency_penalty = 0.0f;
  float presence_penalty = 0.0f;
  std::int32_t repeat_last_n = 64;  // tokens the three penalties look at; -1: the whole context

  std::int32_t mirostat = 0;  // 2: version 2, in place of the steps that remove tokens; 0: off
  float mirostat_tau = 5.0f;  // surprise aimed at, bits
  float mirostat_eta = 0.1f;  // learning rate

  std::vector<LogitBias> logit_bias = {};  // addends of one id add up
  std::vector<std::int32_t> banned = {};   // never drawn
  std::vector<SamplerStep> samplers = default_samplers();  // a step that is not listed does not run
  std::uint64_t seed = 0;
};

// bad_argument, with name and value, for settings that mean nothing and for ids outside 0 .. n_tokens - 1.
[[nodiscard]] Result<void> check(const SamplerConfig& config, std::size_t n_tokens);

}  // namespace layerstream

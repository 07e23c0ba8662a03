#pragma once
// SPDX-License-Identifier: MIT
// The sampler's settings as JS hands them over.

#include <string>

#include "session/session.h"

namespace layerstream::bindings {

struct SamplerOptions {
  double temperature = 0, dynatemp_range = 0, dynatemp_exponent = 0, top_k = 0, top_p = 0, min_p = 0, typical_p = 0, top_n_sigma = 0,
         xtc_probability = 0, xtc_threshold = 0, dry_multiplier = 0, dry_base = 0, dry_allowed_length = 0, dry_last_n = 0,
         repeat_penalty = 0, frequency_penalty = 0, presence_penalty = 0, repeat_last_n = 0, mirostat = 0, mirostat_tau = 0,
         mirostat_eta = 0, seed = 0;
  std::string samplers, dry_breakers;  // names with ';' between them; texts with a NUL after each
  double ids_pointer = 0, n_biases = 0, n_banned = 0;  // float64: n_biases pairs (id, addend), then n_banned ids
};
// bad_argument for names of steps that are not known and for breakers that are no texts.
[[nodiscard]] Result<SamplerConfig> sampler_config(const SamplerOptions& options, const Tokenizer& tokenizer);

}  // namespace layerstream::bindings

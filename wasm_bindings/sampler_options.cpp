// SPDX-License-Identifier: MIT
#include "sampler_options.h"

#include <emscripten/bind.h>

#include <vector>

#include "numbers.h"
#include "session/dry_breakers.h"

namespace layerstream::bindings {
namespace {

SamplerConfig plain_settings(const SamplerOptions& options) {
  const auto real = [](double value) { return static_cast<float>(value); };
  SamplerConfig config;
  config.temperature = real(options.temperature);
  config.dynatemp_range = real(options.dynatemp_range);
  config.dynatemp_exponent = real(options.dynatemp_exponent);
  config.top_k = to_i32(options.top_k);
  config.top_p = real(options.top_p);
  config.min_p = real(options.min_p);
  config.typical_p = real(options.typical_p);
  config.top_n_sigma = real(options.top_n_sigma);
  config.xtc_probability = real(options.xtc_probability);
  config.xtc_threshold = real(options.xtc_threshold);
  config.dry_multiplier = real(options.dry_multiplier);
  config.dry_base = real(options.dry_base);
  config.dry_allowed_length = to_i32(options.dry_allowed_length);
  config.dry_last_n = to_i32(options.dry_last_n);
  config.repeat_penalty = real(options.repeat_penalty);
  config.frequency_penalty = real(options.frequency_penalty);
  config.presence_penalty = real(options.presence_penalty);
  config.repeat_last_n = to_i32(options.repeat_last_n);
  config.mirostat = to_i32(options.mirostat);
  config.mirostat_tau = real(options.mirostat_tau);
  config.mirostat_eta = real(options.mirostat_eta);
  config.seed = to_uint(options.seed, UINT64_MAX);
  return config;
}

}  // namespace

Result<SamplerConfig> sampler_config(const SamplerOptions& options, const Tokenizer& tokenizer) {
  SamplerConfig config = plain_settings(options);
  config.samplers = LS_TRY(parse_samplers(options.samplers));
  const auto* ids = pointer_at<double>(options.ids_pointer);
  for (double i = 0; i < options.n_biases; ++i, ids += 2) config.logit_bias.push_back({to_i32(ids[0]), static_cast<float>(ids[1])});
  for (double i = 0; i < options.n_banned; ++i) config.banned.push_back(to_i32(*ids++));
  if (config.dry_multiplier > 0) {
    std::vector<std::string> texts;
    for (std::size_t begin = 0, end; (end = options.dry_breakers.find('\0', begin)) != std::string::npos; begin = end + 1) {
      texts.push_back(options.dry_breakers.substr(begin, end - begin));
    }
    config.dry_breakers = LS_TRY(find_breakers(tokenizer, texts));
  }
  return config;
}

}  // namespace layerstream::bindings

EMSCRIPTEN_BINDINGS(sampler) {
  using layerstream::bindings::SamplerOptions;
  emscripten::value_object<SamplerOptions>("NativeSampler")
      .field("temperature", &SamplerOptions::temperature)
      .field("dynatempRange", &SamplerOptions::dynatemp_range)
      .field("dynatempExponent", &SamplerOptions::dynatemp_exponent)
      .field("topK", &SamplerOptions::top_k)
      .field("topP", &SamplerOptions::top_p)
      .field("minP", &SamplerOptions::min_p)
      .field("typicalP", &SamplerOptions::typical_p)
      .field("topNSigma", &SamplerOptions::top_n_sigma)
      .field("xtcProbability", &SamplerOptions::xtc_probability)
      .field("xtcThreshold", &SamplerOptions::xtc_threshold)
      .field("dryMultiplier", &SamplerOptions::dry_multiplier)
      .field("dryBase", &SamplerOptions::dry_base)
      .field("dryAllowedLength", &SamplerOptions::dry_allowed_length)
      .field("dryLastN", &SamplerOptions::dry_last_n)
      .field("repeatPenalty", &SamplerOptions::repeat_penalty)
      .field("frequencyPenalty", &SamplerOptions::frequency_penalty)
      .field("presencePenalty", &SamplerOptions::presence_penalty)
      .field("repeatLastN", &SamplerOptions::repeat_last_n)
      .field("mirostat", &SamplerOptions::mirostat)
      .field("mirostatTau", &SamplerOptions::mirostat_tau)
      .field("mirostatEta", &SamplerOptions::mirostat_eta)
      .field("seed", &SamplerOptions::seed)
      .field("samplers", &SamplerOptions::samplers)
      .field("dryBreakers", &SamplerOptions::dry_breakers)
      .field("idsPointer", &SamplerOptions::ids_pointer)
      .field("nBiases", &SamplerOptions::n_biases)
      .field("nBanned", &SamplerOptions::n_banned);
}

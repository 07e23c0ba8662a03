// SPDX-License-Identifier: MIT
#include "cli/sampling_options.h"

#include <charconv>

#include "session/dry_breakers.h"

namespace layerstream::cli {
namespace {

struct RealOption {
  std::string_view name;
  float SamplerConfig::* setting;
};

constexpr RealOption kReals[] = {
    {"--temp", &SamplerConfig::temperature},
    {"--dynatemp-range", &SamplerConfig::dynatemp_range},
    {"--dynatemp-exp", &SamplerConfig::dynatemp_exponent},
    {"--top-p", &SamplerConfig::top_p},
    {"--min-p", &SamplerConfig::min_p},
    {"--typical", &SamplerConfig::typical_p},
    {"--top-n-sigma", &SamplerConfig::top_n_sigma},
    {"--xtc-probability", &SamplerConfig::xtc_probability},
    {"--xtc-threshold", &SamplerConfig::xtc_threshold},
    {"--dry-multiplier", &SamplerConfig::dry_multiplier},
    {"--dry-base", &SamplerConfig::dry_base},
    {"--repeat-penalty", &SamplerConfig::repeat_penalty},
    {"--frequency-penalty", &SamplerConfig::frequency_penalty},
    {"--presence-penalty", &SamplerConfig::presence_penalty},
    {"--mirostat-ent", &SamplerConfig::mirostat_tau},
    {"--mirostat-lr", &SamplerConfig::mirostat_eta},
};

struct IntegerOption {
  std::string_view name;
  std::int32_t SamplerConfig::* setting;
  std::int32_t low;
};

constexpr IntegerOption kIntegers[] = {
    {"--top-k", &SamplerConfig::top_k, 0},
    {"--dry-allowed-length", &SamplerConfig::dry_allowed_length, 0},
    {"--dry-penalty-last-n", &SamplerConfig::dry_last_n, -1},
    {"--repeat-last-n", &SamplerConfig::repeat_last_n, -1},
    {"--mirostat", &SamplerConfig::mirostat, 0},
};

// "15043+1.5", "15043-1", "15043-inf".
Result<LogitBias> parse_logit_bias(const std::string& text) {
  LogitBias bias;
  const char* const end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.id);
  if (id.ec == std::errc{} && id.ptr != end && (*id.ptr == '+' || *id.ptr == '-')) {
    const char* const addend = *id.ptr == '+' ? id.ptr + 1 : id.ptr;  // from_chars knows no plus sign
    const auto parsed = std::from_chars(addend, end, bias.addend);
    if (parsed.ec == std::errc{} && parsed.ptr == end && !(*id.ptr == '+' && *addend == '-')) return bias;
  }
  return fail(ErrorCode::bad_argument, "--logit-bias is \"" + text + "\", expected ID+BIAS or ID-BIAS");
}

// Those given in place of the usual ones; "none" for none at all.
std::vector<std::string> dry_breaker_texts(const Args& args) {
  const auto given = args.texts("--dry-sequence-breaker");
  if (given.empty()) return {kUsualDryBreakers.begin(), kUsualDryBreakers.end()};
  std::vector<std::string> texts(given.begin(), given.end());
  std::erase(texts, "none");
  return texts;
}

}  // namespace

Result<SamplerConfig> sampler_config(const Args& args, const Tokenizer& tokenizer) {
  SamplerConfig config;
  for (const RealOption& option : kReals) config.*option.setting = LS_TRY(args.real(option.name, config.*option.setting));
  for (const IntegerOption& option : kIntegers) config.*option.setting = LS_TRY(args.integer(option.name, config.*option.setting, option.low));
  config.seed = LS_TRY(args.number("--seed", 0, 0, UINT64_MAX));
  for (const std::string& text : args.texts("--logit-bias")) config.logit_bias.push_back(LS_TRY(parse_logit_bias(text)));
  if (const auto names = args.text("--samplers")) config.samplers = LS_TRY(parse_samplers(*names));
  if (config.dry_multiplier > 0) config.dry_breakers = LS_TRY(find_breakers(tokenizer, dry_breaker_texts(args)));
  return config;
}

}  // namespace layerstream::cli

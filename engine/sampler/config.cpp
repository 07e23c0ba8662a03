// SPDX-License-Identifier: MIT
#include "sampler/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace layerstream {
namespace {

constexpr float kAny = std::numeric_limits<float>::max();
constexpr float kAboveZero = std::numeric_limits<float>::denorm_min();
constexpr std::int32_t kAnyInteger = std::numeric_limits<std::int32_t>::max();

// Both ends are allowed values.
template <typename T>
struct Range {
  std::string_view name;
  T SamplerConfig::* setting;
  T low, high;
};

constexpr Range<float> kReals[] = {
    {"temperature", &SamplerConfig::temperature, -kAny, kAny},
    {"dynatemp_range", &SamplerConfig::dynatemp_range, 0, kAny},
    {"dynatemp_exponent", &SamplerConfig::dynatemp_exponent, 0, kAny},
    {"top_p", &SamplerConfig::top_p, 0, kAny},
    {"min_p", &SamplerConfig::min_p, -kAny, 1},
    {"typical_p", &SamplerConfig::typical_p, 0, kAny},
    {"top_n_sigma", &SamplerConfig::top_n_sigma, -kAny, kAny},
    {"xtc_probability", &SamplerConfig::xtc_probability, 0, 1},
    {"xtc_threshold", &SamplerConfig::xtc_threshold, 0, 1},
    {"dry_multiplier", &SamplerConfig::dry_multiplier, 0, kAny},
    {"dry_base", &SamplerConfig::dry_base, 1, kAny},
    {"repeat_penalty", &SamplerConfig::repeat_penalty, kAboveZero, kAny},
    {"frequency_penalty", &SamplerConfig::frequency_penalty, -kAny, kAny},
    {"presence_penalty", &SamplerConfig::presence_penalty, -kAny, kAny},
    {"mirostat_tau", &SamplerConfig::mirostat_tau, 0, kAny},
    {"mirostat_eta", &SamplerConfig::mirostat_eta, 0, kAny},
};

constexpr Range<std::int32_t> kIntegers[] = {
    {"dry_allowed_length", &SamplerConfig::dry_allowed_length, 0, kAnyInteger},
    {"dry_last_n", &SamplerConfig::dry_last_n, -1, kAnyInteger},
    {"repeat_last_n", &SamplerConfig::repeat_last_n, -1, kAnyInteger},
};

template <typename T>
std::string text(T value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

template <typename T>
Result<void> check_ranges(const SamplerConfig& config, std::span<const Range<T>> ranges) {
  for (const Range<T>& range : ranges) {
    const T value = config.*range.setting;
    if (value >= range.low && value <= range.high) continue;  // NaN is in no range
    std::string expected;
    if (range.low != std::numeric_limits<T>::lowest()) expected += (static_cast<float>(range.low) == kAboveZero ? "above 0" : "at least " + text(range.low)) + ", ";
    expected += range.high == std::numeric_limits<T>::max() ? "a finite number" : "at most " + text(range.high);
    return fail(ErrorCode::bad_argument, std::string(range.name) + " is " + text(value) + ", expected " + expected);
  }
  return {};
}

Result<void> check_id(std::string_view setting, std::int32_t id, std::size_t n_tokens) {
  if (id >= 0 && static_cast<std::size_t>(id) < n_tokens) return {};
  return fail(ErrorCode::bad_argument, std::string(setting) + " names token id " + text(id) + ", the vocabulary has " + text(n_tokens));
}

std::string_view name_of(SamplerStep step) {
  return std::ranges::find(kSamplerNames, step, &std::pair<std::string_view, SamplerStep>::second)->first;
}

}  // namespace

std::vector<SamplerStep> default_samplers() {
  std::vector<SamplerStep> steps;
  for (const auto& [name, step] : kSamplerNames) steps.push_back(step);
  return steps;
}

Result<std::vector<SamplerStep>> parse_samplers(std::string_view names) {
  std::vector<SamplerStep> steps;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(';'), names.size());
    const std::string_view name = names.substr(0, end);
    const auto found = std::ranges::find(kSamplerNames, name, &std::pair<std::string_view, SamplerStep>::first);
    if (found == kSamplerNames.end()) {
      std::string message = "samplers has \"" + std::string(name.substr(0, 64)) + "\", known are";
      for (const auto& known : kSamplerNames) message += " " + std::string(known.first);
      return fail(ErrorCode::bad_argument, message);
    }
    steps.push_back(found->second);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return steps;
}

Result<void> check(const SamplerConfig& config, std::size_t n_tokens) {
  LS_CHECK(check_ranges<float>(config, kReals));
  LS_CHECK(check_ranges<std::int32_t>(config, kIntegers));
  if (config.mirostat != 0 && config.mirostat != 2) {
    return fail(ErrorCode::bad_argument, "mirostat is " + text(config.mirostat) + ", expected 0 (off) or 2");
  }
  for (const LogitBias& bias : config.logit_bias) {
    LS_CHECK(check_id("logit_bias", bias.id, n_tokens));
    if (bias.addend < std::numeric_limits<float>::infinity()) continue;
    return fail(ErrorCode::bad_argument, "logit_bias of token id " + text(bias.id) + " is " + text(bias.addend) + ", expected a number or -inf");
  }
  for (const std::int32_t id : config.banned) LS_CHECK(check_id("banned", id, n_tokens));
  for (const auto& breaker : config.dry_breakers) {
    if (breaker.empty()) return fail(ErrorCode::bad_argument, "dry_breakers has an empty sequence");
    for (const std::int32_t id : breaker) LS_CHECK(check_id("dry_breakers", id, n_tokens));
  }
  for (auto step = config.samplers.begin(); step != config.samplers.end(); ++step) {
    if (std::find(config.samplers.begin(), step, *step) == step) continue;
    return fail(ErrorCode::bad_argument, "samplers has " + std::string(name_of(*step)) + " twice");
  }
  return {};
}

}  // namespace layerstream

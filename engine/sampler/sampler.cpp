// SPDX-License-Identifier: MIT
// The chain.

#include "sampler/sampler.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "sampler/steps.h"

namespace layerstream {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_finite(float value) {
  constexpr std::uint32_t kExponent = 0x7f800000u;
  return (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
}

// Position of the first NaN or infinity; size() if there is none.
std::size_t find_non_finite(std::span<const float> logits) {
  bool all_finite = true;  // without a way out of the loop it is vectorised
  for (const float logit : logits) all_finite &= is_finite(logit);
  if (all_finite) return logits.size();
  return static_cast<std::size_t>(std::ranges::find_if_not(logits, is_finite) - logits.begin());
}

std::unexpected<Error> non_finite(std::string_view whose, std::size_t at, std::size_t count) {
  return fail(ErrorCode::non_finite, std::string(whose) + "logit " + std::to_string(at) + " of " + std::to_string(count) + " is not finite");
}

// Ascending, each id once.
std::vector<TokenValue> sum_addends(std::span<const LogitBias> biases) {
  std::vector<TokenValue> sums;
  for (const LogitBias& bias : biases) sums.push_back({bias.id, static_cast<double>(bias.addend)});
  std::ranges::stable_sort(sums, {}, &TokenValue::id);
  std::size_t n = 0;
  for (const TokenValue& next : sums) {
    if (n > 0 && sums[n - 1].id == next.id) {
      sums[n - 1].value += next.value;
    } else {
      sums[n++] = next;
    }
  }
  sums.resize(n);
  return sums;
}

// Mirostat takes the place of these.
bool removes_tokens(SamplerStep step) {
  return step != SamplerStep::penalties && step != SamplerStep::dry && step != SamplerStep::temperature;
}

}  // namespace

Result<Sampler> Sampler::create(SamplerConfig config, std::size_t n_tokens) {
  LS_CHECK(check(config, n_tokens));
  return Sampler(std::move(config), n_tokens);
}

Sampler::Sampler(SamplerConfig config, std::size_t n_tokens)
    : config_(std::move(config)), n_tokens_(n_tokens), addends_(sum_addends(config_.logit_bias)), banned_(config_.banned), dry_(config_, n_tokens), rng_(config_.seed) {
  max_surprise_ = 2.0 * static_cast<double>(config_.mirostat_tau);
  std::erase_if(addends_, [this](const TokenValue& addend) {
    const bool bans = addend.value == -static_cast<double>(kInfinity);
    if (bans) banned_.push_back(addend.id);
    return bans;
  });
  std::ranges::sort(banned_);
  const auto repeated = std::ranges::unique(banned_);
  banned_.erase(repeated.begin(), repeated.end());
}

Result<std::span<const float>> Sampler::drawable(std::span<const float> logits, LogitMask* mask) {
  if (n_tokens_ == 0 || logits.size() < n_tokens_) {
    return fail(ErrorCode::bad_argument, std::to_string(n_tokens_) + " tokens to draw from " + std::to_string(logits.size()) + " logits");
  }
  if (const std::size_t at = find_non_finite(logits); at != logits.size()) return non_finite("", at, logits.size());
  if (mask == nullptr) return logits.first(n_tokens_);

  masked_.assign(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(n_tokens_));
  LS_CHECK(mask->apply(masked_));
  for (std::size_t at = 0; at < n_tokens_; ++at) {
    if (!(masked_[at] < kInfinity)) return non_finite("after the mask, ", at, n_tokens_);
  }
  return masked_;
}

Result<std::int32_t> Sampler::sample(std::span<const float> logits, History history, LogitMask* mask) {
  candidates_.assign(LS_TRY(drawable(logits, mask)), banned_);
  if (candidates_.size() == 0) {
    return fail(ErrorCode::no_candidates, "all " + std::to_string(n_tokens_) + " tokens are banned" + (mask == nullptr ? "" : " or masked"));
  }
  candidates_.change(addends_, [](double logit, double addend) { return logit + addend; });
  const bool mirostat = config_.mirostat != 0;
  for (const SamplerStep step : config_.samplers) {
    if (!mirostat || !removes_tokens(step)) run_step(step, history);
  }
  return mirostat ? draw_mirostat(candidates_, config_, max_surprise_, rng_).id : draw(candidates_, rng_).id;
}

std::uint64_t Sampler::memory_bytes(std::size_t n_tokens) {
  // Candidates, masked logits, counts of penalties, starts of breakers.
  return std::uint64_t{n_tokens} * (sizeof(Candidate) + sizeof(float) + sizeof(std::uint32_t) + 1);
}

void Sampler::run_step(SamplerStep step, History history) {
  switch (step) {
    case SamplerStep::penalties: return penalties_.apply(candidates_, config_, history);
    case SamplerStep::dry: return dry_.apply(candidates_, config_, history);
    case SamplerStep::top_n_sigma: return keep_top_n_sigma(candidates_, config_.top_n_sigma);
    case SamplerStep::top_k: return keep_top_k(candidates_, config_.top_k);
    case SamplerStep::typical_p: return keep_typical(candidates_, config_.typical_p);
    case SamplerStep::top_p: return keep_top_p(candidates_, config_.top_p);
    case SamplerStep::min_p: return keep_min_p(candidates_, config_.min_p);
    case SamplerStep::xtc: return exclude_top_choices(candidates_, config_, rng_);
    case SamplerStep::temperature: return apply_temperature(candidates_, config_);
  }
}

Logprobs Sampler::logprobs(std::span<const float> logits, std::int32_t id, std::size_t n_top) {
  return log_probabilities(logits.first(n_tokens_), id, n_top, candidates_);
}

}  // namespace layerstream

// SPDX-License-Identifier: MIT
#include "sampler/dry.h"

#include <algorithm>

#include "base/math.h"

namespace layerstream {

Dry::Dry(const SamplerConfig& config, std::size_t n_tokens) {
  if (config.dry_multiplier <= 0.0f || config.dry_breakers.empty()) return;
  breakers_ = config.dry_breakers;
  std::ranges::sort(breakers_);
  begins_breaker_.resize(n_tokens);
  for (const Breaker& breaker : breakers_) {
    begins_breaker_[static_cast<std::size_t>(breaker.front())] = true;
    longest_breaker_ = std::max(longest_breaker_, breaker.size());
  }
}

std::size_t Dry::tokens_after_breaker(History tokens) const {
  const auto first_token = [](const Breaker& breaker) { return breaker.front(); };
  std::size_t after = tokens.size();
  for (std::size_t n = 1; n <= tokens.size(); ++n) {
    const History end = tokens.last(n);  // a breaker may begin here
    if (n >= after + longest_breaker_) break;  // but not end later than the best one
    const auto id = static_cast<std::size_t>(end.front());
    if (id >= begins_breaker_.size() || !begins_breaker_[id]) continue;
    for (const Breaker& breaker : std::ranges::equal_range(breakers_, end.front(), {}, first_token)) {
      const bool is_there = breaker.size() <= n && std::ranges::equal(breaker, end.first(breaker.size()));
      if (is_there) after = std::min(after, n - breaker.size());
    }
  }
  return after;
}

// The Z array of the tokens read backwards. [left, right) is the match that reaches farthest.
void Dry::find_matches(History tokens) {
  const std::size_t n = tokens.size();
  const auto backwards = [&](std::size_t i) { return tokens[n - 1 - i]; };
  matches_.assign(n, 0);
  std::size_t left = 0, right = 0;
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t length = i < right ? std::min(right - i, matches_[i - left]) : 0;
    while (i + length < n && backwards(length) == backwards(i + length)) ++length;
    matches_[i] = length;
    if (i + length > right) {
      left = i;
      right = i + length;
    }
  }
}

void Dry::apply(Candidates& candidates, const SamplerConfig& config, History history) {
  const History tokens = last_tokens(history, config.dry_last_n);
  const auto allowed = static_cast<std::size_t>(config.dry_allowed_length);
  if (config.dry_multiplier <= 0.0f || tokens.size() <= allowed) return;
  const std::size_t limit = tokens_after_breaker(tokens);
  if (limit < allowed) return;
  find_matches(tokens);

  // Of each token that follows a match, the longest one.
  lengths_.clear();
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const std::size_t length = std::min(matches_[i], limit);
    if (length >= allowed) lengths_.push_back({tokens[tokens.size() - i], static_cast<double>(length)});
  }
  std::ranges::sort(lengths_, [](const TokenValue& a, const TokenValue& b) { return a.id != b.id ? a.id < b.id : a.value > b.value; });
  const auto repeated = std::ranges::unique(lengths_, {}, &TokenValue::id);
  lengths_.erase(repeated.begin(), repeated.end());

  const double multiplier = static_cast<double>(config.dry_multiplier);
  const double base = static_cast<double>(config.dry_base);
  candidates.change(lengths_, [=](double logit, double length) {
    return logit - multiplier * math::pow(base, length - static_cast<double>(allowed));
  });
}

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// DRY ("don't repeat yourself"): a token that would continue a repeat is punished the harder the longer the repeat.
// For each token t let n be the length of the longest suffix of the last dry_last_n tokens that occurred among them
// before, followed by t, and that reaches across no breaker. If n >= dry_allowed_length:
//   logit <- logit - dry_multiplier * dry_base^(n - dry_allowed_length)
// The suffixes are found by the Z algorithm, in time linear in the number of tokens.

#include <vector>

#include "sampler/candidates.h"
#include "sampler/config.h"
#include "sampler/history.h"

namespace layerstream {

class Dry {
 public:
  // Takes the breakers of the config; ids are below n_tokens. Off without a multiplier.
  Dry(const SamplerConfig& config, std::size_t n_tokens);

  void apply(Candidates& candidates, const SamplerConfig& config, History history);

 private:
  using Breaker = std::vector<std::int32_t>;

  // How many tokens stand behind the last breaker; all, if there is none.
  [[nodiscard]] std::size_t tokens_after_breaker(History tokens) const;
  // matches_[i]: how many tokens before the i-th from the end (i >= 1) are the same as those at the end.
  void find_matches(History tokens);

  std::vector<Breaker> breakers_;  // sorted, so that those with the same first token are neighbours
  std::vector<bool> begins_breaker_;  // [n_tokens]
  std::size_t longest_breaker_ = 0;   // tokens
  // Memory kept from call to call.
  std::vector<std::size_t> matches_;
  std::vector<TokenValue> lengths_;
};

}  // namespace layerstream

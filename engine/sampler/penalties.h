#pragma once
// SPDX-License-Identifier: MIT
// Repetition, frequency and presence penalties. For each distinct token of the last repeat_last_n, seen `count` times:
//   logit <- logit <= 0 ? logit * repeat_penalty : logit / repeat_penalty
//   logit <- logit - count * frequency_penalty - presence_penalty

#include <vector>

#include "sampler/candidates.h"
#include "sampler/config.h"
#include "sampler/history.h"

namespace layerstream {

class Penalties {
 public:
  void apply(Candidates& candidates, const SamplerConfig& config, History history);

 private:
  // Kept from call to call: how often each id was seen (0 between calls), and those that were.
  std::vector<std::uint32_t> counts_;
  std::vector<TokenValue> seen_;
};

}  // namespace layerstream

// SPDX-License-Identifier: MIT
#include "sampler/logprobs.h"

#include "sampler/softmax.h"

namespace layerstream {

Logprobs log_probabilities(std::span<const float> logits, std::int32_t drawn, std::size_t n_top, Candidates& scratch) {
  scratch.assign(logits);
  const Softmax softmax(scratch);
  Logprobs result;
  result.drawn = {drawn, softmax.log_probability(logits[static_cast<std::size_t>(drawn)])};
  scratch.keep_first(n_top);
  for (const Candidate& candidate : scratch.items()) result.top.push_back({candidate.id, softmax.log_probability(candidate.logit)});
  return result;
}

}  // namespace layerstream

// SPDX-License-Identifier: MIT
#include "sampler/penalties.h"

#include <algorithm>

namespace layerstream {

void Penalties::apply(Candidates& candidates, const SamplerConfig& config, History history) {
  const double repeat = static_cast<double>(config.repeat_penalty);
  const double frequency = static_cast<double>(config.frequency_penalty);
  const double presence = static_cast<double>(config.presence_penalty);
  const History recent = last_tokens(history, config.repeat_last_n);
  if (recent.empty() || (repeat == 1.0 && frequency == 0.0 && presence == 0.0)) return;

  const auto count_of = [this](std::int32_t id) -> std::uint32_t& { return counts_[static_cast<std::size_t>(id)]; };
  seen_.clear();
  counts_.resize(std::max(counts_.size(), static_cast<std::size_t>(*std::ranges::max_element(recent)) + 1));
  for (const std::int32_t id : recent) {
    if (count_of(id)++ == 0) seen_.push_back({id, 0.0});
  }
  std::ranges::sort(seen_, {}, &TokenValue::id);
  for (TokenValue& token : seen_) {
    token.value = count_of(token.id);
    count_of(token.id) = 0;
  }
  candidates.change(seen_, [=](double logit, double count) {
    const double repeated = logit <= 0.0 ? logit * repeat : logit / repeat;
    return repeated - count * frequency - presence;
  });
}

}  // namespace layerstream

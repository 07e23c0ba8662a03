// SPDX-License-Identifier: MIT
// Sorting is only done as far as a step asks: a vocabulary has up to 256 k tokens, a step looks at few.

#include "sampler/candidates.h"

#include <algorithm>

namespace layerstream {
namespace {

bool comes_before(const Candidate& a, const Candidate& b) { return a.before(b); }

}  // namespace

void Candidates::assign(std::span<const float> logits) {
  items_.resize(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) items_[i] = {logits[i], static_cast<std::int32_t>(i)};
  n_sorted_ = 0;
}

void Candidates::sort_first(std::size_t count) {
  count = std::min(count, items_.size());
  if (count <= n_sorted_) return;
  const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(n_sorted_);
  const auto end = items_.begin() + static_cast<std::ptrdiff_t>(count);
  if (end != items_.end()) std::nth_element(begin, end, items_.end(), comes_before);
  std::sort(begin, end, comes_before);
  n_sorted_ = count;
}

void Candidates::keep_first(std::size_t count) {
  items_.resize(std::min(count, items_.size()));
  n_sorted_ = std::min(n_sorted_, items_.size());
}

void Candidates::keep_at_least(double least) {
  // The sorted front falls, so what goes of it goes at its end: the front stays sorted.
  std::size_t sorted = 0;
  while (sorted < n_sorted_ && static_cast<double>(items_[sorted].logit) >= least) ++sorted;
  std::erase_if(items_, [least](const Candidate& candidate) { return static_cast<double>(candidate.logit) < least; });
  n_sorted_ = sorted;
}

float Candidates::highest_logit() const {
  if (n_sorted_ > 0) return items_.front().logit;
  return std::ranges::max(items_, {}, &Candidate::logit).logit;
}

}  // namespace layerstream

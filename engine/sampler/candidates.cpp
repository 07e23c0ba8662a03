// SPDX-License-Identifier: MIT
// A vocabulary has up to 256 k tokens and a step looks at few: nothing is sorted further than asked.

#include "sampler/candidates.h"

#include <limits>

namespace layerstream {
namespace {

bool comes_before(const Candidate& a, const Candidate& b) { return a.before(b); }

}  // namespace

void Candidates::assign(std::span<const float> logits, std::span<const std::int32_t> banned) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  items_.resize(logits.size());
  std::size_t n = 0;
  std::size_t id = 0;
  const auto take_below = [&](std::size_t end) {
    for (; id < end; ++id) {
      items_[n] = {logits[id], static_cast<std::int32_t>(id)};
      n += logits[id] == kImpossible ? 0 : 1;
    }
  };
  for (const std::int32_t out : banned) {
    take_below(static_cast<std::size_t>(out));
    id = static_cast<std::size_t>(out) + 1;
  }
  take_below(logits.size());
  items_.resize(n);
  standing_ = Standing::by_id;
}

void Candidates::keep_first(std::size_t count) {
  count = std::min(count, items_.size());
  if (count > 0 && standing_ != Standing::by_logit) select_first(count);
  items_.resize(count);
}

// One scan with a threshold, the worst of the best `count` so far. Few of a vocabulary pass it; those gather at the
// front, and whenever there are `limit` of them the best are selected anew.
void Candidates::select_first(std::size_t count) {
  const auto at = [this](std::size_t index) { return items_.begin() + static_cast<std::ptrdiff_t>(index); };
  const std::size_t limit = 2 * count + 64;
  Candidate worst{std::numeric_limits<float>::lowest(), std::numeric_limits<std::int32_t>::max()};
  std::size_t n = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].before(worst)) continue;
    items_[n++] = items_[i];
    if (n < limit) continue;
    std::nth_element(items_.begin(), at(count - 1), at(n), comes_before);
    worst = items_[count - 1];
    n = count;
  }
  std::nth_element(items_.begin(), at(count - 1), at(n), comes_before);
  std::sort(items_.begin(), at(count), comes_before);
  standing_ = Standing::by_logit;
}

float Candidates::highest_logit() const {
  if (standing_ == Standing::by_logit) return items_.front().logit;
  return std::ranges::max(items_, {}, &Candidate::logit).logit;
}

float Candidates::to_logit(double value) {
  constexpr double kGreatest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kGreatest, kGreatest));
}

}  // namespace layerstream

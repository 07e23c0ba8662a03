#pragma once
// SPDX-License-Identifier: MIT
// What the sampler's steps hand on: the tokens that can still be drawn. Each step is one function or class in one
// file that removes candidates or changes their logits; to add one, write it and call it in Sampler::run_step.
//
// The one order is (logit descending, id ascending), which leaves nothing to a sort's whim. Between steps the
// candidates stand in an order that depends on the input alone, so that sums over them are the same bits on every build.
// Logits of candidates are finite, always.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace layerstream {

struct Candidate {
  float logit = 0.0f;
  std::int32_t id = 0;

  // Comes first in the order.
  [[nodiscard]] bool before(const Candidate& other) const { return logit != other.logit ? logit > other.logit : id < other.id; }
};

// A number that belongs to a token. Lists of them are ascending by id, each id once.
struct TokenValue {
  std::int32_t id = 0;
  double value = 0.0;
};

class Candidates {
 public:
  // Takes the ids of `logits`, in id order, without those that are -inf or in `banned` (ascending).
  // Memory is kept from call to call.
  void assign(std::span<const float> logits, std::span<const std::int32_t> banned = {});

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::span<const Candidate> items() const { return items_; }
  [[nodiscard]] float highest_logit() const;  // not empty

  // Keeps the first `count` of the order, in order.
  void keep_first(std::size_t count);
  // Keeps those for which keep(candidate) holds, where they stand.
  template <typename Keep>
  void keep_if(Keep keep) {
    std::erase_if(items_, [&](const Candidate& candidate) { return !keep(candidate); });
  }
  // Visits in the strict total order `before`, keeps up to and with the first for which reached(candidate) holds
  // (all, if it never does), and leaves them in that order. Sorts no further than it looks.
  template <typename Before, typename Reached>
  void keep_until(Before before, Reached reached);
  // The same in the one order.
  template <typename Reached>
  void keep_until(Reached reached) {
    keep_until([](const Candidate& a, const Candidate& b) { return a.before(b); }, reached);
    standing_ = Standing::by_logit;
  }

  // Logit of each becomes change(logit), a double; brought into the range of finite floats.
  template <typename Change>
  void change_all(Change change) {
    for (Candidate& item : items_) item.logit = to_logit(change(static_cast<double>(item.logit)));
    leave_order();
  }
  // Logit of those that `values` names becomes change(logit, value).
  template <typename Change>
  void change(std::span<const TokenValue> values, Change change);

 private:
  // by_id and by_logit (the order) are known; otherwise as a step left them.
  enum class Standing : std::uint8_t { by_id, by_logit, otherwise };

  static float to_logit(double value);
  void select_first(std::size_t count);  // 1 <= count <= size(); leaves what follows undefined
  void leave_order() {
    if (standing_ == Standing::by_logit) standing_ = Standing::otherwise;
  }

  std::vector<Candidate> items_;
  Standing standing_ = Standing::by_id;
};

template <typename Before, typename Reached>
void Candidates::keep_until(Before before, Reached reached) {
  standing_ = Standing::otherwise;
  std::size_t n_sorted = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i == n_sorted) {  // sort the next portion, at first 64, then up to four times as many
      n_sorted = std::min(items_.size(), std::max<std::size_t>(64, 4 * n_sorted));
      const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = items_.begin() + static_cast<std::ptrdiff_t>(n_sorted);
      if (end != items_.end()) std::nth_element(begin, end, items_.end(), before);
      std::sort(begin, end, before);
    }
    if (!reached(items_[i])) continue;
    items_.resize(i + 1);
    return;
  }
}

template <typename Change>
void Candidates::change(std::span<const TokenValue> values, Change change) {
  const auto apply = [&](Candidate& item, double value) { item.logit = to_logit(change(static_cast<double>(item.logit), value)); };
  if (standing_ == Standing::by_id) {  // all or nearly all of a vocabulary: look each value up
    auto from = items_.begin();
    for (const TokenValue& value : values) {
      from = std::ranges::lower_bound(from, items_.end(), value.id, {}, &Candidate::id);
      if (from == items_.end()) return;
      if (from->id == value.id) apply(*from, value.value);
    }
    return;
  }
  for (Candidate& item : items_) {
    const auto value = std::ranges::lower_bound(values, item.id, {}, &TokenValue::id);
    if (value != values.end() && value->id == item.id) apply(item, value->value);
  }
  leave_order();
}

}  // namespace layerstream

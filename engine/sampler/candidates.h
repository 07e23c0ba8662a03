#pragma once
// SPDX-License-Identifier: MIT
// What the sampler's steps hand on: the tokens that can still be drawn. Each step is one function in one file
// that removes candidates or changes their logits; to add one, write it and call it in Sampler::sample.
// The one order is (logit descending, id ascending), which leaves nothing to a sort's whim.

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

class Candidates {
 public:
  // Takes ids 0.. of `logits`, in id order. Memory is kept from call to call.
  void assign(std::span<const float> logits);

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::span<const Candidate> items() const { return items_; }
  // For changes that keep the order: a monotone function of the logit.
  [[nodiscard]] std::span<Candidate> mutable_items() { return items_; }

  // Puts the first `count` (at most size()) of the order at the front, in order; the rest follows in any order.
  void sort_first(std::size_t count);
  // Keeps the first `count` where they stand.
  void keep_first(std::size_t count);
  // Keeps those with a logit of at least `least`, where they stand.
  void keep_at_least(double least);

  [[nodiscard]] float highest_logit() const;  // not empty

 private:
  std::vector<Candidate> items_;
  std::size_t n_sorted_ = 0;  // so many at the front are in place
};

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// Probabilities of candidates. One pass sums e^(logit - highest) in the order in which they stand; every step that
// needs a probability or the entropy takes it from here.

#include "base/math.h"
#include "sampler/candidates.h"

namespace layerstream {

class Softmax {
 public:
  // Of at least one candidate.
  explicit Softmax(const Candidates& candidates) : highest_(static_cast<double>(candidates.highest_logit())) {
    for (const Candidate& candidate : candidates.items()) {
      const double below_highest = static_cast<double>(candidate.logit) - highest_;
      const double weight = math::exp(below_highest);
      total_ += weight;
      weighted_ += weight * below_highest;
    }
    log_total_ = math::log(total_);
  }

  // Proportional to the probability; 1 for the most probable one.
  [[nodiscard]] double weight(float logit) const { return math::exp(static_cast<double>(logit) - highest_); }
  [[nodiscard]] double total_weight() const { return total_; }
  [[nodiscard]] double log_probability(float logit) const { return (static_cast<double>(logit) - highest_) - log_total_; }
  // -sum of p ln p, nats.
  [[nodiscard]] double entropy() const { return log_total_ - weighted_ / total_; }

 private:
  double highest_ = 0.0;
  double total_ = 0.0;
  double weighted_ = 0.0;
  double log_total_ = 0.0;
};

}  // namespace layerstream

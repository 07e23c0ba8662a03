#pragma once
// SPDX-License-Identifier: MIT
// The chain once more, the plain way: every step by its textbook definition, in double, by libm, with full sorts over a
// whole vocabulary, where -inf stands for "removed". Gives the exact distribution of a configuration.

#include <algorithm>
#include <map>
#include <numeric>

#include "sampler_test_util.h"

namespace layerstream::test {

class ChainOracle {
 public:
  ChainOracle(const SamplerConfig& config, const std::vector<float>& logits, Ids history = {}) : config_(config), history_(std::move(history)), z_(logits.begin(), logits.end()) {
    for (const LogitBias& bias : config.logit_bias) z_[static_cast<std::size_t>(bias.id)] += static_cast<double>(bias.addend);
    for (const std::int32_t id : config.banned) remove(static_cast<std::size_t>(id));
  }

  // Of the whole chain; XTC splits it in two worlds.
  [[nodiscard]] std::vector<double> distribution() const { return continue_from(0); }

  [[nodiscard]] const std::vector<double>& logits() const { return z_; }

  [[nodiscard]] std::vector<double> probabilities() const {
    const double highest = *std::ranges::max_element(z_);
    std::vector<double> p;
    double total = 0.0;
    for (const double z : z_) total += p.emplace_back(std::exp(z - highest));
    for (double& one : p) one /= total;
    return p;
  }

  void penalties() {
    std::map<std::size_t, int> counts;
    for (const auto id : recent(config_.repeat_last_n)) ++counts[id];
    for (const auto& [id, count] : counts) {
      double& z = z_[id];
      z = z <= 0 ? z * double{config_.repeat_penalty} : z / double{config_.repeat_penalty};
      z -= count * double{config_.frequency_penalty} + double{config_.presence_penalty};
    }
  }

  // Straight from the definition: every end of every earlier occurrence, token by token.
  void dry() {
    if (config_.dry_multiplier == 0.0f) return;
    const auto tokens = recent(config_.dry_last_n);
    const std::size_t n = tokens.size();
    std::size_t first = 0;  // of the suffix that stands behind every breaker
    for (std::size_t begin = 0; begin < n; ++begin) {
      for (const auto& breaker : config_.dry_breakers) {
        const bool fits = breaker.size() <= n - begin;
        if (fits && std::equal(breaker.begin(), breaker.end(), tokens.begin() + static_cast<std::ptrdiff_t>(begin))) first = std::max(first, begin + breaker.size());
      }
    }
    std::map<std::size_t, std::size_t> longest;
    for (std::size_t next = 1; next < n; ++next) {
      std::size_t length = 0;
      while (length < next && length < n - first && tokens[next - 1 - length] == tokens[n - 1 - length]) ++length;
      const auto at = longest.try_emplace(tokens[next], length).first;
      at->second = std::max(at->second, length);
    }
    const auto allowed = static_cast<std::size_t>(config_.dry_allowed_length);
    for (const auto& [id, length] : longest) {
      if (length >= allowed) z_[id] -= double{config_.dry_multiplier} * std::pow(double{config_.dry_base}, static_cast<double>(length - allowed));
    }
  }

  void top_n_sigma() {
    const auto ids = order();
    if (config_.top_n_sigma <= 0.0f || ids.size() < 2) return;
    double mean = 0.0, variance = 0.0;
    for (const auto id : ids) mean += z_[id] / static_cast<double>(ids.size());
    for (const auto id : ids) variance += (z_[id] - mean) * (z_[id] - mean) / static_cast<double>(ids.size());
    const double least = z_[ids.front()] - double{config_.top_n_sigma} * std::sqrt(variance);
    for (const auto id : ids) {
      if (z_[id] < least) remove(id);
    }
  }

  void top_k() {
    if (config_.top_k > 0) keep_prefix(order(), static_cast<std::size_t>(config_.top_k));
  }

  void typical_p() {
    if (config_.typical_p >= 1.0f) return;
    const auto p = probabilities();
    double entropy = 0.0;
    for (const double one : p) entropy -= one > 0 ? one * std::log(one) : 0;
    auto ids = order();
    std::ranges::stable_sort(ids, {}, [&](std::size_t id) { return std::fabs(-std::log(p[id]) - entropy); });
    double sum = 0.0;
    std::size_t count = 0;
    while (count < ids.size() && sum <= double{config_.typical_p}) sum += p[ids[count++]];
    keep_prefix(ids, count);
  }

  void top_p() {
    if (config_.top_p >= 1.0f) return;
    const auto p = probabilities();
    const auto ids = order();
    double sum = 0.0;
    std::size_t count = 0;
    do sum += p[ids[count++]];
    while (count < ids.size() && sum < double{config_.top_p});
    keep_prefix(ids, count);
  }

  void min_p() {
    const auto p = probabilities();
    const double highest = *std::ranges::max_element(p);
    for (std::size_t id = 0; id < p.size(); ++id) {
      if (p[id] < double{config_.min_p} * highest) remove(id);
    }
  }

  // As if the dice said yes.
  void xtc() {
    const auto p = probabilities();
    auto ids = order();
    std::erase_if(ids, [&](std::size_t id) { return p[id] < double{config_.xtc_threshold}; });
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) remove(ids[i]);
  }

  void temperature() {
    const auto ids = order();
    double t = config_.temperature;
    if (t <= 0.0) return keep_prefix(ids, 1);
    if (config_.dynatemp_range > 0.0f && ids.size() > 1) {
      double entropy = 0.0;
      for (const double one : probabilities()) entropy -= one > 0 ? one * std::log(one) : 0;
      const double low = std::max(0.0, t - double{config_.dynatemp_range});
      const double high = t + double{config_.dynatemp_range};
      t = low + (high - low) * std::pow(entropy / std::log(static_cast<double>(ids.size())), double{config_.dynatemp_exponent});
    }
    for (double& z : z_) z /= t;
  }

  // What is left, in the one order.
  [[nodiscard]] std::vector<std::size_t> order() const {
    std::vector<std::size_t> ids(z_.size());
    std::iota(ids.begin(), ids.end(), std::size_t{0});
    std::erase_if(ids, [this](std::size_t id) { return z_[id] == -INFINITY; });
    std::ranges::stable_sort(ids, std::greater{}, [this](std::size_t id) { return z_[id]; });
    return ids;
  }

 private:
  void remove(std::size_t id) { z_[id] = -INFINITY; }

  void keep_prefix(const std::vector<std::size_t>& ids, std::size_t count) {
    for (std::size_t i = count; i < ids.size(); ++i) remove(ids[i]);
  }

  [[nodiscard]] std::vector<std::size_t> recent(std::int32_t last_n) const {
    const std::size_t n = last_n < 0 ? history_.size() : std::min(history_.size(), static_cast<std::size_t>(last_n));
    return {history_.end() - static_cast<std::ptrdiff_t>(n), history_.end()};
  }

  [[nodiscard]] std::vector<double> continue_from(std::size_t index) const {
    ChainOracle world = *this;
    for (; index < config_.samplers.size(); ++index) {
      if (config_.samplers[index] == SamplerStep::xtc && config_.xtc_probability > 0.0f) {
        ChainOracle other = world;
        other.xtc();
        const auto with = other.continue_from(index + 1);
        auto mixed = world.continue_from(index + 1);
        const double probability = config_.xtc_probability;
        for (std::size_t id = 0; id < mixed.size(); ++id) mixed[id] = probability * with[id] + (1.0 - probability) * mixed[id];
        return mixed;
      }
      world.run(config_.samplers[index]);
    }
    return world.probabilities();
  }

  void run(SamplerStep step) {
    switch (step) {
      case SamplerStep::penalties: return penalties();
      case SamplerStep::dry: return dry();
      case SamplerStep::top_n_sigma: return top_n_sigma();
      case SamplerStep::top_k: return top_k();
      case SamplerStep::typical_p: return typical_p();
      case SamplerStep::top_p: return top_p();
      case SamplerStep::min_p: return min_p();
      case SamplerStep::xtc: return;  // off
      case SamplerStep::temperature: return temperature();
    }
  }

  SamplerConfig config_;
  Ids history_;
  std::vector<double> z_;  // logit per id
};

}  // namespace layerstream::test

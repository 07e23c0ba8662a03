#pragma once
// SPDX-License-Identifier: MIT
// Seeded logits, and statistics with teeth: a chi-square test against an exact distribution that must also tell a
// wrong distribution from it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sampler/sampler.h"
#include "sampler/steps.h"

namespace layerstream::test {

using Random = std::mt19937_64;
using Ids = std::vector<std::int32_t>;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline float unit_float(Random& random) { return static_cast<float>(random() >> 40) * 0x1.0p-24f; }

// In -range .. range; with few distinct values if `ties`.
inline std::vector<float> random_logits(Random& random, std::size_t count, float range, bool ties) {
  std::vector<float> logits(count);
  for (float& logit : logits) {
    logit = ties ? static_cast<float>(static_cast<int>(random() % 7)) - 3.0f : (2.0f * unit_float(random) - 1.0f) * range;
  }
  return logits;
}

// Of `count` ids below `n_tokens`, few of them if `repetitive`.
inline Ids random_history(Random& random, std::size_t count, std::size_t n_tokens, bool repetitive) {
  Ids ids(count);
  for (auto& id : ids) id = static_cast<std::int32_t>(random() % (repetitive ? std::min<std::size_t>(n_tokens, 3) : n_tokens));
  return ids;
}

inline Candidates candidates_of(const std::vector<float>& logits) {
  Candidates candidates;
  candidates.assign(logits);
  return candidates;
}

inline Ids ids_of(const Candidates& candidates) {
  Ids ids;
  for (const Candidate& candidate : candidates.items()) ids.push_back(candidate.id);
  return ids;
}

inline std::vector<float> logits_of(const Candidates& candidates, std::size_t n_tokens) {
  std::vector<float> logits(n_tokens, -kInfinity);
  for (const Candidate& candidate : candidates.items()) logits[static_cast<std::size_t>(candidate.id)] = candidate.logit;
  return logits;
}

inline Sampler make_sampler(const SamplerConfig& config, std::size_t n_tokens) {
  auto sampler = Sampler::create(config, n_tokens);
  if (!sampler) ADD_FAILURE() << sampler.error().message;
  return std::move(*sampler);
}

// Softmax in double, by libm.
inline std::vector<double> softmax(const std::vector<float>& logits, double temperature = 1.0) {
  double highest = -INFINITY, total = 0.0;
  for (const float logit : logits) highest = std::max(highest, static_cast<double>(logit));
  std::vector<double> p(logits.size());
  for (std::size_t i = 0; i < p.size(); ++i) total += p[i] = std::exp((static_cast<double>(logits[i]) - highest) / temperature);
  for (double& one : p) one /= total;
  return p;
}

// Draws `n_draws` times with one sampler.
inline std::vector<int> count_draws(const SamplerConfig& config, const std::vector<float>& logits, const Ids& history, int n_draws) {
  Sampler sampler = make_sampler(config, logits.size());
  std::vector<int> counts(logits.size());
  for (int i = 0; i < n_draws; ++i) {
    const auto id = sampler.sample(logits, history);
    if (!id) {
      ADD_FAILURE() << id.error().message;
      break;
    }
    ++counts[static_cast<std::size_t>(*id)];
  }
  return counts;
}

// How far counts are from a distribution, in units of the limit that one in a million correct ones exceeds (fewer than
// five expected: pooled). Infinite if an id of probability 0 was drawn.
inline double chi_square_excess(const std::vector<int>& counts, const std::vector<double>& expected) {
  double n_draws = 0.0, chi_square = 0.0, pooled_mean = 0.0, pooled_count = 0.0;
  for (const int count : counts) n_draws += count;
  int degrees = -1;
  const auto add = [&](double count, double mean) {
    chi_square += (count - mean) * (count - mean) / mean;
    ++degrees;
  };
  for (std::size_t id = 0; id < expected.size(); ++id) {
    if (expected[id] == 0.0 && counts[id] > 0) return INFINITY;
    const double mean = expected[id] * n_draws;
    if (mean >= 5.0) {
      add(counts[id], mean);
    } else {
      pooled_mean += mean;
      pooled_count += counts[id];
    }
  }
  if (pooled_mean >= 1.0) add(pooled_count, pooled_mean);
  if (degrees < 1) return 0.0;
  // The quantile of 1 - 1e-6 after Wilson and Hilferty.
  const double spread = 2.0 / (9.0 * degrees);
  return chi_square / (degrees * std::pow(1.0 - spread + 4.753 * std::sqrt(spread), 3));
}

// Draws follow `expected`, and so many draws suffice to tell that they do not follow `wrong`. Probabilities per id.
inline void expect_distribution(const SamplerConfig& config, const std::vector<float>& logits, const std::vector<double>& expected,
                                const std::vector<double>& wrong, const Ids& history = {}) {
  const std::vector<int> counts = count_draws(config, logits, history, 40000);
  EXPECT_LT(chi_square_excess(counts, expected), 1.0);
  EXPECT_GT(chi_square_excess(counts, wrong), 1.0) << "the test cannot tell right from wrong";
}

}  // namespace layerstream::test

#pragma once
// SPDX-License-Identifier: MIT
// Seeded logits, exact distributions and the chi-square statistic.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sampler/sampler.h"
#include "sampler/steps.h"

namespace layerstream::test {

using Random = std::mt19937_64;

inline float unit_float(Random& random) { return static_cast<float>(random() >> 40) * 0x1.0p-24f; }

// In -range .. range; with few distinct values if `ties`.
inline std::vector<float> random_logits(Random& random, std::size_t count, float range, bool ties) {
  std::vector<float> logits(count);
  for (float& logit : logits) {
    logit = ties ? static_cast<float>(static_cast<int>(random() % 7)) - 3.0f : (2.0f * unit_float(random) - 1.0f) * range;
  }
  return logits;
}

inline Candidates candidates_of(const std::vector<float>& logits) {
  Candidates candidates;
  candidates.assign(logits);
  return candidates;
}

inline std::vector<std::int32_t> ids_of(const Candidates& candidates) {
  std::vector<std::int32_t> ids;
  for (const Candidate& candidate : candidates.items()) ids.push_back(candidate.id);
  return ids;
}

// Softmax in double, by libm.
inline std::vector<double> softmax(const std::vector<float>& logits, double temperature = 1.0) {
  double highest = -INFINITY, total = 0.0;
  for (const float logit : logits) highest = std::max(highest, static_cast<double>(logit));
  std::vector<double> p(logits.size());
  for (std::size_t i = 0; i < p.size(); ++i) total += p[i] = std::exp((logits[i] - highest) / temperature);
  for (double& one : p) one /= total;
  return p;
}

// Draws `n_draws` times and compares with `expected` (probability per id). Ids of probability 0 must not be drawn.
inline void expect_distribution(const SamplerConfig& config, const std::vector<float>& logits, const std::vector<double>& expected) {
  constexpr int kDraws = 40000;
  auto sampler = Sampler::create(config);
  ASSERT_TRUE(sampler.has_value());
  std::vector<int> counts(logits.size());
  for (int i = 0; i < kDraws; ++i) {
    const auto id = sampler->sample(logits, logits.size());
    ASSERT_TRUE(id.has_value());
    ++counts[static_cast<std::size_t>(*id)];
  }
  double chi_square = 0.0;
  int degrees = -1;
  for (std::size_t id = 0; id < expected.size(); ++id) {
    if (expected[id] == 0.0) {
      EXPECT_EQ(counts[id], 0) << "id " << id << " was drawn";
      continue;
    }
    const double mean = expected[id] * kDraws;
    chi_square += (counts[id] - mean) * (counts[id] - mean) / mean;
    ++degrees;
  }
  // Mean f, standard deviation sqrt(2 f): five of them is far out for any f used here. Seeds are fixed.
  EXPECT_LT(chi_square, degrees + 5.0 * std::sqrt(2.0 * degrees) + 1.0) << "with " << degrees << " degrees of freedom";
}

}  // namespace layerstream::test

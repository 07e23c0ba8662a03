// SPDX-License-Identifier: MIT
// Properties of the int8 form of activations.

#include "kernels/activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/ref/ref.h"
#include "test_data.h"

namespace layerstream {
namespace {

using test::Random;

struct Quantised {
  std::vector<std::int8_t> q;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
};

template <typename Function>
Quantised quantised(const std::vector<float>& x, Function function) {
  Quantised out{std::vector<std::int8_t>(x.size(), 99), std::vector<float>(x.size() / 32, -1.0f), std::vector<std::int32_t>(x.size() / 32, -1)};
  function(x.data(), x.size(), out.q.data(), out.scales.data(), out.sums.data());
  return out;
}
Quantised quantised(const std::vector<float>& x) { return quantised(x, kernels::quantize_activations); }

TEST(QuantizeActivations, EqualsTheScalarOracle) {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> x(32 * random.between(1, 4));
    const float factor = std::ldexp(1.0f, static_cast<int>(random.below(240)) - 140);
    for (float& v : x) v = random.below(8) == 0 ? random.any_finite() * 0x1p-30f : factor * random.unit();
    if (round % 7 == 0) x[random.below(x.size())] = NAN;
    if (round % 7 == 1) x[random.below(x.size())] = -INFINITY;
    const Quantised a = quantised(x);
    const Quantised b = quantised(x, kernels::ref::quantize_activations);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.sums, b.sums);
    for (std::size_t i = 0; i < a.scales.size(); ++i) EXPECT_TRUE(test::same(a.scales[i], b.scales[i]));
  }
}

TEST(QuantizeActivations, TheGreatestValueBecomes127AndNothingExceedsIt) {
  Random random(22);
  for (int round = 0; round < 500; ++round) {
    std::vector<float> x = test::random_vector(random, 32, std::ldexp(1.0f, static_cast<int>(random.below(200)) - 100));
    const Quantised a = quantised(x);
    const auto at = static_cast<std::size_t>(
        std::max_element(x.begin(), x.end(), [](float p, float q) { return std::fabs(p) < std::fabs(q); }) - x.begin());
    EXPECT_EQ(a.q[at], x[at] > 0 ? 127 : -127);
    for (std::size_t i = 0; i < 32; ++i) {
      EXPECT_LE(std::abs(int{a.q[i]}), 127);
      EXPECT_LE(std::fabs(x[i] - a.scales[0] * static_cast<float>(a.q[i])), a.scales[0] * 0.5001f);
    }
  }
}

TEST(QuantizeActivations, HalvesGoToTheEvenNeighbour) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;  // scale 1: the values are the integers themselves
  const float in[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f, -125.5f};
  const int out[] = {0, 2, 2, 0, -2, -2, 126, -126};
  std::copy(std::begin(in), std::end(in), x.begin() + 1);
  const Quantised a = quantised(x);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(a.q[i + 1], out[i]) << in[i];
  EXPECT_EQ(a.scales[0], 1.0f);
}

TEST(QuantizeActivations, SumsAreExactPerHalfBlock) {
  Random random(23);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> x = test::random_vector(random, 64);
    if (round == 0) std::fill(x.begin(), x.end(), -1.0f);
    if (round == 1) std::fill(x.begin(), x.end(), 1.0f);
    const Quantised a = quantised(x);
    for (std::size_t block = 0; block < 2; ++block) {
      int halves[2] = {};
      for (std::size_t i = 0; i < 32; ++i) halves[i / 16] += a.q[32 * block + i];
      EXPECT_EQ(kernels::first_sum(a.sums[block]), halves[0]);
      EXPECT_EQ(kernels::second_sum(a.sums[block]), halves[1]);
    }
  }
}

TEST(QuantizeActivations, ZeroAndVanishingBlocksHaveScaleZero) {
  for (const float value : {0.0f, -0.0f, 1e-45f, 0x1.fffffep-121f}) {
    const Quantised a = quantised(std::vector<float>(32, value));
    EXPECT_EQ(a.scales[0], 0.0f);
    EXPECT_EQ(a.sums[0], 0);
    EXPECT_EQ(a.q, std::vector<std::int8_t>(32, 0));
  }
  EXPECT_EQ(quantised(std::vector<float>(32, 0x1p-120f)).q, std::vector<std::int8_t>(32, 127));
  EXPECT_EQ(quantised(std::vector<float>(32, std::numeric_limits<float>::max())).q, std::vector<std::int8_t>(32, 127));
}

TEST(QuantizeActivations, ANonFiniteValueSpoilsItsBlockOnly) {
  for (const float bad : {INFINITY, -INFINITY, NAN, -NAN}) {
    std::vector<float> x(96, 1.0f);
    x[45] = bad;
    const Quantised a = quantised(x);
    EXPECT_TRUE(std::isnan(a.scales[1]));
    EXPECT_EQ(a.sums[1], 0);
    for (std::size_t i = 32; i < 64; ++i) EXPECT_EQ(a.q[i], 0);
    EXPECT_EQ(a.q[0], 127);
    EXPECT_EQ(a.q[95], 127);
    EXPECT_TRUE(std::isfinite(a.scales[0]) && std::isfinite(a.scales[2]));
  }
}

}  // namespace
}  // namespace layerstream

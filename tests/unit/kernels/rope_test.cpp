// SPDX-License-Identifier: MIT
// Rotary embedding: table against libm in double, rotation against the scalar oracle and as a rotation.

#include "kernels/rope.h"

#include <gtest/gtest.h>

#include "kernels/ref/ref.h"
#include "test_data.h"

namespace layerstream {
namespace {

using kernels::RopePairs;
using test::Random;

TEST(RopeTable, IsTheRoundedDoubleUpToAMillionPositions) {
  Random random(41);
  std::vector<double> frequencies;
  for (int i = 0; i < 64; ++i) frequencies.push_back(std::pow(10000.0, -i / 64.0));
  std::vector<float> cos(64), sin(64);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t position = round < 3 ? static_cast<std::uint64_t>(round) : random.below(1 << 20);
    const double magnitude = round % 2 == 0 ? 1.0 : 1.19;
    kernels::rope_table(position, frequencies, magnitude, cos.data(), sin.data());
    for (std::size_t i = 0; i < 64; ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      // Half a unit of f32 at magnitude 1.19, and the double's own error.
      EXPECT_NEAR(static_cast<double>(cos[i]), std::cos(angle) * magnitude, 6.1e-8);
      EXPECT_NEAR(static_cast<double>(sin[i]), std::sin(angle) * magnitude, 6.1e-8);
    }
  }
}

TEST(RopeTable, PositionZeroIsTheIdentity) {
  const std::vector<double> frequencies = {1.0, 0.1, 0.0};
  float cos[3], sin[3];
  kernels::rope_table(0, frequencies, 1.0, cos, sin);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cos[i], 1.0f);
    EXPECT_EQ(sin[i], 0.0f);
  }
}

TEST(RopeApply, EqualsTheScalarOracleAndLeavesTheRest) {
  Random random(42);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n_pairs = random.between(1, 40);
    const std::size_t head_dim = 2 * n_pairs + random.below(9);
    const std::size_t n_heads = random.between(1, 4);
    const auto cos = test::random_vector(random, n_pairs);
    const auto sin = test::random_vector(random, n_pairs);
    const auto heads = test::random_vector(random, n_heads * head_dim);
    for (const RopePairs pairs : {RopePairs::adjacent, RopePairs::half_split}) {
      auto a = heads;
      auto b = heads;
      kernels::rope_apply(pairs, cos.data(), sin.data(), n_pairs, a.data(), n_heads, head_dim);
      kernels::ref::rope_apply(pairs, cos.data(), sin.data(), n_pairs, b.data(), n_heads, head_dim);
      ASSERT_EQ(test::first_difference(a, b), a.size()) << "pairs " << n_pairs << " dim " << head_dim;
      for (std::size_t h = 0; h < n_heads; ++h) {
        for (std::size_t d = 2 * n_pairs; d < head_dim; ++d) ASSERT_EQ(a[h * head_dim + d], heads[h * head_dim + d]);
      }
    }
  }
}

TEST(RopeApply, KeepsTheDotProductOfEqualDistances) {
  Random random(43);
  const std::size_t n_pairs = 32;
  std::vector<double> frequencies;
  for (std::size_t i = 0; i < n_pairs; ++i) frequencies.push_back(std::pow(10000.0, -static_cast<double>(i) / n_pairs));
  const auto q = test::random_vector(random, 64);
  const auto k = test::random_vector(random, 64);
  const auto dot_at = [&](RopePairs pairs, std::uint64_t q_position, std::uint64_t k_position) {
    std::vector<float> cos(n_pairs), sin(n_pairs);
    auto a = q;
    auto b = k;
    kernels::rope_table(q_position, frequencies, 1.0, cos.data(), sin.data());
    kernels::rope_apply(pairs, cos.data(), sin.data(), n_pairs, a.data(), 1, 64);
    kernels::rope_table(k_position, frequencies, 1.0, cos.data(), sin.data());
    kernels::rope_apply(pairs, cos.data(), sin.data(), n_pairs, b.data(), 1, 64);
    double sum = 0.0;
    for (std::size_t i = 0; i < 64; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  };
  for (const RopePairs pairs : {RopePairs::adjacent, RopePairs::half_split}) {
    EXPECT_NEAR(dot_at(pairs, 100, 93), dot_at(pairs, 1000000, 999993), 1e-5);
    EXPECT_GT(std::fabs(dot_at(pairs, 100, 93) - dot_at(pairs, 100, 60)), 1e-4);
  }
}

}  // namespace
}  // namespace layerstream

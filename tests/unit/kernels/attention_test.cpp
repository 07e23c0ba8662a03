// SPDX-License-Identifier: MIT
// Attention: equal to the scalar oracle, close to a double one, and independent of ring layout, group size and what lies
// outside the window.

#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/half.h"
#include "kernels/ref/ref.h"
#include "test_data.h"

namespace layerstream {
namespace {

using kernels::AttentionParams;
using kernels::KvHeadView;
using kernels::KvType;
using test::Random;

// K and V of n_rows absolute positions, and ring caches made of them.
struct Cache {
  KvType type;
  std::size_t head_dim;
  std::size_t n_rows;
  std::vector<float> k;
  std::vector<float> v;
  std::vector<std::byte> k_bytes;
  std::vector<std::byte> v_bytes;

  Cache(Random& random, KvType kv_type, std::size_t dim, std::size_t rows)
      : type(kv_type), head_dim(dim), n_rows(rows), k(test::random_vector(random, dim * rows, 2.0f)), v(test::random_vector(random, dim * rows)) {}

  // The last min(ring_rows, n_rows) positions lie where a ring puts them.
  KvHeadView ring(std::size_t ring_rows) {
    const std::size_t row_bytes = kernels::kv_row_bytes(type, head_dim);
    k_bytes.assign(ring_rows * row_bytes, std::byte{0xff});  // NaN where nothing was stored
    v_bytes.assign(ring_rows * row_bytes, std::byte{0xff});
    for (std::size_t p = 0; p < n_rows; ++p) {
      kernels::kv_store(type, k.data() + p * head_dim, head_dim, k_bytes.data() + p % ring_rows * row_bytes);
      kernels::kv_store(type, v.data() + p * head_dim, head_dim, v_bytes.data() + p % ring_rows * row_bytes);
    }
    return {type, k_bytes.data(), v_bytes.data(), ring_rows, head_dim};
  }
};

std::vector<float> attend(const KvHeadView& kv, const AttentionParams& params, std::uint64_t first, std::uint64_t last,
                          const std::vector<float>& queries) {
  const std::size_t n_group = queries.size() / kv.head_dim;
  std::vector<float> out(queries.size(), -5.0f);
  std::vector<float> scratch(n_group * static_cast<std::size_t>(last - first + 5), NAN);
  kernels::attend(kv, params, first, last, queries.data(), out.data(), n_group, scratch.data());
  return out;
}

std::vector<float> oracle(const KvHeadView& kv, const AttentionParams& params, std::uint64_t first, std::uint64_t last,
                          const std::vector<float>& queries) {
  std::vector<float> out(queries.size());
  std::vector<float> scratch(static_cast<std::size_t>(last - first + 1));
  kernels::ref::attend(kv, params, first, last, queries.data(), out.data(), queries.size() / kv.head_dim, scratch.data());
  return out;
}

std::vector<float> stored_and_loaded(KvType type, const std::vector<float>& values) {
  std::vector<std::byte> row(kernels::kv_row_bytes(type, values.size()), std::byte{0xff});
  kernels::kv_store(type, values.data(), values.size(), row.data());
  std::vector<float> back(values.size());
  kernels::kv_load(type, row.data(), values.size(), back.data());
  return back;
}

AttentionParams random_params(Random& random, std::size_t head_dim) {
  AttentionParams params;
  params.score_scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
  if (random.below(3) == 0) params.soft_cap = 1.5f;
  return params;
}

constexpr KvType kTypes[] = {KvType::f32, KvType::f16, KvType::q8};
constexpr std::size_t kDims[] = {1, 3, 4, 7, 16, 20, 33, 64, 80, 128, 130, 256, 515};

TEST(Attention, EqualsTheScalarOracleBitForBit) {
  Random random(51);
  for (int round = 0; round < 150; ++round) {
    const std::size_t dim = kDims[random.below(std::size(kDims))];
    const std::size_t rows = random.between(1, 45);
    Cache cache(random, kTypes[random.below(3)], dim, rows);
    const std::size_t first = random.below(rows);
    const std::size_t last = random.between(first, rows - 1);
    const KvHeadView kv = cache.ring(rows + random.below(3));
    const auto queries = test::random_vector(random, dim * random.between(1, 8), 3.0f);
    const AttentionParams params = random_params(random, dim);
    const auto a = attend(kv, params, first, last, queries);
    const auto b = oracle(kv, params, first, last, queries);
    ASSERT_EQ(test::first_difference(a, b), a.size()) << "dim " << dim << " positions " << first << ".." << last;
    for (const float value : a) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(Attention, IsCloseToADoubleOracle) {
  Random random(52);
  for (int round = 0; round < 60; ++round) {
    const std::size_t dim = kDims[random.below(std::size(kDims))];
    const std::size_t rows = random.between(1, 60);
    Cache cache(random, kTypes[round % 3], dim, rows);
    const KvHeadView kv = cache.ring(rows);
    auto q = test::random_vector(random, dim, 3.0f);
    const AttentionParams params = random_params(random, dim);
    const auto got = attend(kv, params, 0, rows - 1, q);
    if (cache.type == KvType::q8) q = stored_and_loaded(KvType::q8, q);  // the query is rounded as the keys are
    std::vector<float> k(dim * rows), v(dim * rows);
    for (std::size_t p = 0; p < rows; ++p) {
      const std::size_t at = p * kernels::kv_row_bytes(cache.type, dim);
      kernels::kv_load(cache.type, cache.k_bytes.data() + at, dim, k.data() + p * dim);
      kernels::kv_load(cache.type, cache.v_bytes.data() + at, dim, v.data() + p * dim);
    }
    std::vector<double> scores(rows);
    for (std::size_t p = 0; p < rows; ++p) {
      for (std::size_t d = 0; d < dim; ++d) scores[p] += static_cast<double>(q[d]) * k[p * dim + d];
      scores[p] *= static_cast<double>(params.score_scale);
      const double cap = static_cast<double>(params.soft_cap);
      if (cap != 0.0) scores[p] = cap * std::tanh(scores[p] / cap);
    }
    const double max = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (double& score : scores) sum += score = std::exp(score - max);
    for (std::size_t d = 0; d < dim; ++d) {
      double expected = 0.0;
      for (std::size_t p = 0; p < rows; ++p) expected += scores[p] / sum * v[p * dim + d];
      // Values are within [-1, 1]; a score of up to 6 * sqrt(dim) * eps * sqrt(dim) moves its weight by as much.
      ASSERT_NEAR(static_cast<double>(got[d]), expected, 2e-6 + 1e-7 * static_cast<double>(dim));
    }
  }
}

TEST(Attention, TheRingLayoutDoesNotChangeABit) {
  Random random(53);
  for (int round = 0; round < 80; ++round) {
    const std::size_t dim = kDims[random.below(10)];
    const std::size_t rows = random.between(20, 60);
    Cache cache(random, kTypes[round % 3], dim, rows);
    const std::size_t window = random.between(1, 15);
    const std::size_t last = rows - 1;
    const std::size_t first = rows - window;
    const auto queries = test::random_vector(random, dim * 3);
    const AttentionParams params = random_params(random, dim);
    const auto linear = attend(cache.ring(rows), params, first, last, queries);
    for (const std::size_t ring_rows : {window, window + 1, window + 5}) {
      ASSERT_EQ(test::first_difference(attend(cache.ring(ring_rows), params, first, last, queries), linear), linear.size());
    }
  }
}

TEST(Attention, TheGroupSizeDoesNotChangeABit) {
  Random random(54);
  for (int round = 0; round < 60; ++round) {
    const std::size_t dim = kDims[random.below(std::size(kDims))];
    const std::size_t rows = random.between(1, 40);
    Cache cache(random, kTypes[round % 3], dim, rows);
    const KvHeadView kv = cache.ring(rows);
    const AttentionParams params = random_params(random, dim);
    const auto queries = test::random_vector(random, dim * 5);
    const auto together = attend(kv, params, 0, rows - 1, queries);
    for (std::size_t g = 0; g < 5; ++g) {
      const auto at = static_cast<std::ptrdiff_t>(g * dim);
      const auto size = static_cast<std::ptrdiff_t>(dim);
      const std::vector<float> query(queries.begin() + at, queries.begin() + at + size);
      const std::vector<float> expected(together.begin() + at, together.begin() + at + size);
      ASSERT_EQ(test::first_difference(attend(kv, params, 0, rows - 1, query), expected), dim);
    }
  }
}

TEST(Attention, PositionsOutsideTheWindowDoNotMatter) {
  Random random(55);
  for (int round = 0; round < 60; ++round) {
    const std::size_t dim = kDims[random.below(10)];
    const std::size_t rows = random.between(8, 40);
    Cache cache(random, kTypes[round % 3], dim, rows);
    const std::size_t first = random.between(1, rows - 2);
    const std::size_t last = random.between(first, rows - 2);
    const auto queries = test::random_vector(random, dim * 2);
    const AttentionParams params = random_params(random, dim);
    const auto before = attend(cache.ring(rows), params, first, last, queries);
    for (std::size_t p = 0; p < rows; ++p) {
      if (p >= first && p <= last) continue;
      std::fill_n(cache.k.begin() + static_cast<std::ptrdiff_t>(p * dim), dim, NAN);
      std::fill_n(cache.v.begin() + static_cast<std::ptrdiff_t>(p * dim), dim, NAN);
    }
    ASSERT_EQ(test::first_difference(attend(cache.ring(rows), params, first, last, queries), before), before.size());
  }
}

// The lane of a weight in the sum is its absolute position: rows whose weight is exactly 0 before the window start give
// the bits of a window that starts later.
TEST(Attention, SumsAreAnchoredAtAbsolutePositions) {
  Random random(56);
  for (std::size_t hidden = 1; hidden < 9; ++hidden) {
    const std::size_t dim = 8;
    const std::size_t rows = 30;
    Cache cache(random, KvType::f32, dim, rows);
    std::vector<float> queries(dim, 1.0f);
    for (std::size_t i = 0; i < hidden * dim; ++i) cache.k[i] = -1e6f;  // e^-large is 0
    const KvHeadView kv = cache.ring(rows);
    const AttentionParams params;
    ASSERT_EQ(test::first_difference(attend(kv, params, 0, rows - 1, queries), attend(kv, params, hidden, rows - 1, queries)), dim);
  }
}

TEST(Attention, OnePositionReturnsItsValue) {
  Random random(57);
  Cache cache(random, KvType::f32, 20, 9);
  const auto out = attend(cache.ring(9), {}, 5, 5, test::random_vector(random, 40, 100.0f));
  for (std::size_t d = 0; d < 40; ++d) EXPECT_EQ(out[d], cache.v[5 * 20 + d % 20]);
}

TEST(Attention, VeryLargeScoresStayFinite) {
  Random random(58);
  Cache cache(random, KvType::f32, 16, 12);
  for (const float value : attend(cache.ring(12), {}, 0, 11, test::random_vector(random, 16, 1e20f))) EXPECT_TRUE(std::isfinite(value));
}

TEST(KvStore, RoundsAsBaseHalfAndReadsBack) {
  Random random(59);
  for (std::size_t n = 1; n < 40; ++n) {
    std::vector<float> values(n);
    for (float& v : values) v = random.any_finite();
    const auto halves = stored_and_loaded(KvType::f16, values);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(halves[i], half_to_float(float_to_half(values[i])));
    EXPECT_EQ(stored_and_loaded(KvType::f32, values), values);
  }
}

TEST(KvStore, Int8IsWithinHalfAStepPerBlockOf32) {
  Random random(60);
  for (const std::size_t n : {1, 31, 32, 33, 80, 128, 257, 515}) {
    const auto values = test::random_vector(random, n, 4.0f);
    const auto back = stored_and_loaded(KvType::q8, values);
    for (std::size_t begin = 0; begin < n; begin += 32) {
      float greatest = 0.0f;
      for (std::size_t i = begin; i < std::min(n, begin + 32); ++i) greatest = std::max(greatest, std::abs(values[i]));
      for (std::size_t i = begin; i < std::min(n, begin + 32); ++i) EXPECT_LE(std::abs(back[i] - values[i]), greatest / 127.0f * 0.5001f);
    }
  }
}

TEST(KvStore, AnInt8BlockWithAnInfinityReadsBackAsNaN) {
  std::vector<float> values(64, 1.0f);
  values[40] = std::numeric_limits<float>::infinity();
  const auto back = stored_and_loaded(KvType::q8, values);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(std::isnan(back[i]), i >= 32);
}

}  // namespace
}  // namespace layerstream

// SPDX-License-Identifier: MIT
// Matrix products of every type in the registry: equal to the scalar oracle bit for bit, close to a double oracle within
// a derived bound, independent of tiling.

#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "quant/registry.h"
#include "test_data.h"

namespace layerstream {
namespace {

using test::Columns;
using test::Matrix;
using test::Random;
using test::Scales;

template <typename Q>
class Matmul : public testing::Test {
 public:
  static constexpr bool kFloat = Q::kActivation == quant::ActivationKind::f32;
  // A random row length the type allows.
  static std::size_t length(Random& random) {
    constexpr std::size_t kLengths[] = {32, 64, 96, 160, 256, 352, 2048};
    if (kFloat) return random.below(5) == 0 ? 2048 : random.between(1, 70);
    const std::size_t block = type_info(Q::kType).block_elements;
    return block > 32 ? block * random.between(1, 5) : kLengths[random.below(std::size(kLengths))];
  }
};

template <typename... Q>
using GoogleTypes = testing::Types<Q...>;
TYPED_TEST_SUITE(Matmul, quant::Types::apply<GoogleTypes>);

std::vector<float> product(const Matrix& w, const kernels::Activations& x, std::size_t begin, std::size_t end) {
  std::vector<float> y(x.n_columns * w.view.rows, -77.0f);
  kernels::matmul(w.view, x, begin, end, y.data(), w.view.rows);
  return y;
}

std::vector<float> oracle(const Matrix& w, const kernels::Activations& x, std::size_t begin, std::size_t end) {
  std::vector<float> y(x.n_columns * w.view.rows, -77.0f);
  kernels::ref::matmul(w.view, x, begin, end, y.data(), w.view.rows);
  return y;
}

TYPED_TEST(Matmul, IsSupportedAndKnowsItsActivations) {
  EXPECT_TRUE(kernels::is_supported(TypeParam::kType));
  EXPECT_EQ(kernels::activation_kind(TypeParam::kType), TypeParam::kActivation);
}

TYPED_TEST(Matmul, EqualsTheScalarOracleBitForBit) {
  Random random(11);
  for (int round = 0; round < 150; ++round) {
    const std::size_t length = this->length(random);
    const std::size_t rows = random.between(1, 19);
    const Scales scales = static_cast<Scales>(random.below(3));
    const Matrix w = test::make_matrix(random, TypeParam::kType, rows, length, scales);
    const Columns x = test::make_columns(random, random.between(1, 9), length);
    const std::size_t begin = random.below(rows);
    const std::size_t end = random.between(begin, rows);
    const auto y = product(w, x.view(), begin, end);
    const auto z = oracle(w, x.view(), begin, end);
    const std::size_t at = test::first_difference(y, z);
    ASSERT_EQ(at, y.size()) << "round " << round << " length " << length << " rows " << rows << " columns " << x.n_columns
                            << " got " << y[at] << " expected " << z[at];
  }
}

TYPED_TEST(Matmul, RowsOutsideTheRangeAreNotTouched) {
  Random random(12);
  const std::size_t length = 256;
  const Matrix w = test::make_matrix(random, TypeParam::kType, 13, length);
  const Columns x = test::make_columns(random, 5, length);
  const auto y = product(w, x.view(), 3, 11);
  for (std::size_t c = 0; c < 5; ++c) {
    for (const std::size_t r : {0, 1, 2, 11, 12}) EXPECT_EQ(y[c * 13 + r], -77.0f);
    for (std::size_t r = 3; r < 11; ++r) EXPECT_NE(y[c * 13 + r], -77.0f);
  }
}

TYPED_TEST(Matmul, ColumnCountAndRowSplitDoNotChangeABit) {
  Random random(13);
  for (int round = 0; round < 20; ++round) {
    const std::size_t length = this->length(random);
    const std::size_t rows = 37;
    const Matrix w = test::make_matrix(random, TypeParam::kType, rows, length);
    const Columns x = test::make_columns(random, 9, length);
    const auto all = product(w, x.view(), 0, rows);
    for (std::size_t c = 0; c < 9; ++c) {
      std::vector<float> one(rows);
      std::size_t begin = 0;
      while (begin < rows) {
        const std::size_t end = random.between(begin + 1, rows);
        kernels::matmul(w.view, x.view(c, 1), begin, end, one.data(), rows);
        begin = end;
      }
      for (std::size_t r = 0; r < rows; ++r) ASSERT_TRUE(test::same(one[r], all[c * rows + r])) << "row " << r << " column " << c;
    }
  }
}

// The distance to the product of dequantised weights and float activations in double is at most
//   activation rounding: half a step per value, sum |w| * xs / 2 (float weights: none)
//   float rounding: eps times the number of roundings a term meets, times the sum of magnitudes.
TYPED_TEST(Matmul, IsWithinTheDerivedBoundOfTheDoubleOracle) {
  Random random(14);
  for (int round = 0; round < 60; ++round) {
    const std::size_t length = this->length(random);
    const Matrix w = test::make_matrix(random, TypeParam::kType, 4, length);
    const Columns x = test::make_columns(random, 2, length);
    const auto y = product(w, x.view(), 0, 4);
    std::vector<float> row(length);
    for (std::size_t r = 0; r < 4; ++r) {
      kernels::dequantize_row(TypeParam::kType, w.view.row(r), row.data(), length);
      for (std::size_t c = 0; c < 2; ++c) {
        double exact = 0.0;
        double rounding = 0.0;
        double magnitude = 0.0;
        for (std::size_t i = 0; i < length; ++i) {
          const double xi = static_cast<double>(x.f32[c * length + i]);
          exact += static_cast<double>(row[i]) * xi;
          double weight = std::fabs(static_cast<double>(row[i]));
          if constexpr (quant::IntegerTrait<TypeParam>) {
            const quant::ScalarBlock b = quant::scalar_block_at<TypeParam>(w.view.row(r), i / 32);
            const double step = static_cast<double>(x.scales[c * (length / 32) + i / 32]);
            rounding += weight * step * 0.5 * (1.0 + 0x1p-15);
            // With a minimum the two parts of a weight are summed apart: their magnitudes count.
            weight = std::fabs(static_cast<double>(b.scale) * b.sub_scale[i % 32 / 16] * b.v[i % 32]);
            if (TypeParam::kHasMinimum) weight += std::fabs(static_cast<double>(b.minimum) * b.sub_minimum[i % 32 / 16]);
          }
          magnitude += weight * (std::fabs(xi) + 0.02);
        }
        const double n_roundings = (TestFixture::kFloat ? static_cast<double>(length) / 16.0 : static_cast<double>(length) / 32.0) + 8.0;
        const double bound = rounding + 0x1p-24 * n_roundings * magnitude;
        ASSERT_LE(std::fabs(static_cast<double>(y[c * 4 + r]) - exact), bound) << "length " << length;
      }
    }
  }
}

TYPED_TEST(Matmul, AnEmptyRangeOrNoColumnsDoNothing) {
  Random random(15);
  const Matrix w = test::make_matrix(random, TypeParam::kType, 4, 256);
  const Columns x = test::make_columns(random, 2, 256);
  for (const float value : product(w, x.view(), 2, 2)) EXPECT_EQ(value, -77.0f);
  kernels::matmul(w.view, x.view(0, 0), 0, 4, nullptr, 0);
}

TYPED_TEST(Matmul, ANonFiniteActivationMakesTheResultNonFinite) {
  Random random(16);
  const Matrix w = test::make_matrix(random, TypeParam::kType, 3, 256);
  Columns x = test::make_columns(random, 1, 256);
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    x.f32[40] = bad;
    kernels::quantize_activations(x.f32.data(), 256, x.q8.data(), x.scales.data(), x.sums.data());
    const auto y = product(w, x.view(), 0, 3);
    for (const float value : y) EXPECT_FALSE(std::isfinite(value));
  }
}

// Codes, sub-scales and minimums at their ends against activations at theirs: nothing saturates or overflows, and integers
// are exact as floats.
TYPED_TEST(Matmul, ExtremeCodesEqualTheScalarOracle) {
  if constexpr (quant::IntegerTrait<TypeParam>) {
    Random random(18);
    const std::size_t block_bytes = type_info(TypeParam::kType).block_bytes;
    for (int round = 0; round < 60; ++round) {
      Matrix w = test::make_matrix(random, TypeParam::kType, 5, 512);
      constexpr std::uint8_t kFills[] = {0x00, 0xff, 0x80, 0x7f, 0x0f, 0xf0};
      const auto scales = test::scale_bytes(TypeParam::kType);
      for (std::size_t i = 0; i < w.bytes.size(); ++i) {
        const bool in_scale = std::ranges::count(scales, i % block_bytes) != 0;
        if (!in_scale && random.below(8) != 0) w.bytes[i] = static_cast<std::byte>(kFills[static_cast<std::size_t>(round) % std::size(kFills)]);
      }
      Columns x = test::make_columns(random, 5, 512);
      for (float& value : x.f32) value = round % 3 == 0 || (round % 3 == 1 && random.below(2) == 0) ? -3.0f : 3.0f;
      for (std::size_t c = 0; c < 5; ++c) {
        kernels::quantize_activations(x.f32.data() + c * 512, 512, x.q8.data() + c * 512, x.scales.data() + c * 16, x.sums.data() + c * 16);
      }
      EXPECT_EQ(test::first_difference(product(w, x.view(), 0, 5), oracle(w, x.view(), 0, 5)), 25u);
    }
  }
}

TEST(MatmulQ8_0, Minus128IsExactWhereverItStands) {
  Random random(17);
  for (std::size_t at = 0; at < 96; ++at) {
    Matrix w = test::make_matrix(random, QuantType::q8_0, 6, 96);
    for (std::size_t r = 0; r < 6; ++r) w.bytes[r * 102 + at / 32 * 34 + 2 + at % 32] = std::byte{0x80};
    if (at == 0) {  // all codes, all activations at their ends
      for (std::size_t i = 0; i < w.bytes.size(); ++i) w.bytes[i] = i % 34 < 2 ? w.bytes[i] : std::byte{0x80};
    }
    Columns x = test::make_columns(random, 5, 96);
    if (at == 0) {
      for (std::size_t i = 0; i < 96; ++i) x.f32[i] = i % 2 == 0 || i < 48 ? -3.0f : 3.0f;
      kernels::quantize_activations(x.f32.data(), 96, x.q8.data(), x.scales.data(), x.sums.data());
    }
    EXPECT_EQ(test::first_difference(product(w, x.view(), 0, 6), oracle(w, x.view(), 0, 6)), 30u);
  }
}

TEST(MatmulOfAnUnknownType, GivesNaNAndIsNotSupported) {
  EXPECT_FALSE(kernels::is_supported(QuantType::i64));
  EXPECT_FALSE(kernels::is_supported(QuantType::q8_1));
  std::vector<std::byte> bytes(256);
  std::vector<float> x(32, 1.0f);
  kernels::Activations a;
  a.f32 = x.data();
  a.n_columns = 1;
  a.length = 32;
  float y[2] = {1.0f, 1.0f};
  kernels::matmul(MatView{bytes.data(), QuantType::i32, 2, 32, 128}, a, 0, 2, y, 2);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
}

}  // namespace
}  // namespace layerstream

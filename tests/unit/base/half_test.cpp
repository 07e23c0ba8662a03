// SPDX-License-Identifier: MIT
// 16-bit floats: every code, and the rounding of floats to them.

#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace layerstream {
namespace {

// The format read the obvious way.
double half_value(std::uint16_t half) {
  const double sign = (half & 0x8000u) != 0 ? -1.0 : 1.0;
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(HalfToFloat, IsExactForEveryCode) {
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const auto half = static_cast<std::uint16_t>(code);
    const float value = half_to_float(half);
    if (std::isnan(half_value(half))) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(static_cast<double>(value), half_value(half)) << code;
      EXPECT_EQ(std::signbit(value), (half & 0x8000u) != 0);
    }
  }
}

TEST(FloatToHalf, EveryCodeComesBack) {
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const auto half = static_cast<std::uint16_t>(code);
    if (std::isnan(half_to_float(half))) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(half_to_float(half)))));
    } else {
      EXPECT_EQ(float_to_half(half_to_float(half)), half);
    }
  }
}

TEST(FloatToHalf, PicksTheNearestAndTheEvenOfTwo) {
  for (std::uint32_t code = 0; code < 0x7c00u; ++code) {
    const double low = half_value(static_cast<std::uint16_t>(code));
    const double high = code == 0x7bff ? 65536.0 : half_value(static_cast<std::uint16_t>(code + 1));
    const auto middle = static_cast<float>((low + high) / 2.0);  // exact: one more bit than a half
    const std::uint32_t even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(float_to_half(middle), even);
    EXPECT_EQ(float_to_half(-middle), even | 0x8000u);
    EXPECT_EQ(float_to_half(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(float_to_half(std::nextafter(middle, 1e9f)), code + 1);
  }
  EXPECT_EQ(float_to_half(INFINITY), 0x7c00u);
  EXPECT_EQ(float_to_half(3e38f), 0x7c00u);
  EXPECT_EQ(float_to_half(1e-45f), 0u);
  EXPECT_EQ(float_to_half(-1e-45f), 0x8000u);
}

TEST(BfloatToFloat, IsTheUpperHalfOfAFloat) {
  for (std::uint32_t code = 0; code < 65536; ++code) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(bfloat_to_float(static_cast<std::uint16_t>(code))), code << 16);
  }
}

}  // namespace
}  // namespace layerstream

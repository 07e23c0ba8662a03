// SPDX-License-Identifier: MIT
// Elementary functions against libm in long double, within the errors that base/math.h states.

#include "base/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace layerstream {
namespace {

// musl's long double functions (wasm) call those of double: half a unit of uncertainty in the oracle itself.
// That the bits under test are the same there is checked by the pinned hash below.
#if defined(__EMSCRIPTEN__)
constexpr long double kOracleError = 1.2e-16L;
#else
constexpr long double kOracleError = 0.0L;
#endif

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ ^ (state_ >> 29);
  }
  double between(double low, double high) { return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53); }

 private:
  std::uint64_t state_;
};

long double relative_error(double got, long double expected) { return std::fabs((static_cast<long double>(got) - expected) / expected); }

TEST(Exp, IsWithin2em16Relative) {
  Random random(1);
  long double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? random.between(-708.0, 709.7) : random.between(-2.0, 2.0);
    worst = std::max(worst, relative_error(math::exp(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 2e-16L + kOracleError);
}

TEST(Exp, EdgesAreDefined) {
  EXPECT_EQ(math::exp(0.0), 1.0);
  EXPECT_EQ(math::exp(-0.0), 1.0);
  EXPECT_EQ(math::exp(kInfinity), kInfinity);
  EXPECT_EQ(math::exp(-kInfinity), 0.0);
  EXPECT_EQ(math::exp(710.0), kInfinity);
  EXPECT_EQ(math::exp(-746.0), 0.0);
  EXPECT_LT(math::exp(709.78), kInfinity);
  EXPECT_TRUE(std::isnan(math::exp(NAN)));
  for (double x = -745.0; x < -708.0; x += 0.37) EXPECT_NEAR(math::exp(x), std::exp(x), 5e-324 + 3e-16 * std::exp(x));
}

TEST(Log, IsWithin4em16Relative) {
  Random random(2);
  long double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    double x = i % 2 == 0 ? random.between(0.4, 2.5) : std::bit_cast<double>(random.bits() >> 1);
    if (!std::isfinite(x) || x == 0.0 || x == 1.0) continue;
    worst = std::max(worst, relative_error(math::log(x), std::log(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 4e-16L + kOracleError);
}

TEST(Log, EdgesAreDefined) {
  EXPECT_EQ(math::log(1.0), 0.0);
  EXPECT_EQ(math::log(0.0), -kInfinity);
  EXPECT_EQ(math::log(-0.0), -kInfinity);
  EXPECT_EQ(math::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(math::log(-1.0)));
  EXPECT_TRUE(std::isnan(math::log(-kInfinity)));
  EXPECT_TRUE(std::isnan(math::log(NAN)));
  EXPECT_NEAR(math::log(5e-324), -744.44007192138126, 1e-12);
}

TEST(Tanh, IsWithin4em16Absolute1em15Relative) {
  Random random(3);
  for (int i = 0; i < 100000; ++i) {
    const double x = i % 3 == 0 ? random.between(-0.2, 0.2) : random.between(-25.0, 25.0);
    const long double expected = std::tanh(static_cast<long double>(x));
    ASSERT_LT(std::fabs(static_cast<long double>(math::tanh(x)) - expected), 4e-16L) << x;
    ASSERT_LT(relative_error(math::tanh(x), expected), 1e-15L) << x;
    ASSERT_EQ(math::tanh(-x), -math::tanh(x));
  }
  EXPECT_EQ(math::tanh(1e300), 1.0);
  EXPECT_EQ(math::tanh(-kInfinity), -1.0);
  EXPECT_TRUE(std::signbit(math::tanh(-0.0)));
  EXPECT_NEAR(math::tanh(1e-300) / 1e-300, 1.0, 1e-15);
  EXPECT_TRUE(std::isnan(math::tanh(NAN)));
}

void expect_close_sincos(double x) {
  const math::SinCos got = math::sincos(x);
  ASSERT_LT(std::fabs(static_cast<long double>(got.sin) - std::sin(static_cast<long double>(x))), 4e-16L) << x;
  ASSERT_LT(std::fabs(static_cast<long double>(got.cos) - std::cos(static_cast<long double>(x))), 4e-16L) << x;
}

TEST(SinCos, IsWithin4em16UpTo2To30) {
  Random random(4);
  for (int i = 0; i < 100000; ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(random.bits() >> 40) % 31);
    expect_close_sincos(random.between(-size, size));
  }
  for (const double x : {0x1p30, -0x1p30, 0x1.fffffffffffffp29, 1e-300, 5e-324}) expect_close_sincos(x);
}

TEST(SinCos, IsCloseNearMultiplesOfHalfPi) {
  Random random(5);
  for (int i = 0; i < 50000; ++i) {
    const double n = static_cast<double>(random.bits() % 683565275);  // 2^30 / (pi/2)
    const double x = static_cast<double>(static_cast<long double>(n) * 1.57079632679489661923132L);
    expect_close_sincos(x);
    expect_close_sincos(std::nextafter(x, 0.0));
  }
}

TEST(SinCos, WhatCannotBeReducedIsNaN) {
  for (const double x : {0x1.0000000000001p30, -1e300, kInfinity, -kInfinity, static_cast<double>(NAN)}) {
    EXPECT_TRUE(std::isnan(math::sincos(x).sin));
    EXPECT_TRUE(std::isnan(math::sincos(x).cos));
  }
  EXPECT_EQ(math::sincos(0.0).sin, 0.0);
  EXPECT_EQ(math::sincos(0.0).cos, 1.0);
}

TEST(Pow, GivesRopeFrequencies) {
  for (const double base : {10000.0, 500000.0, 1000000.0, 1.0, 2.5}) {
    for (int i = 0; i <= 64; ++i) {
      const double exponent = -static_cast<double>(i) / 64.0;
      const long double expected = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
      EXPECT_LT(relative_error(math::pow(base, exponent), expected), 2e-16L + kOracleError + 4e-16L * std::fabs(exponent * std::log(base)));
    }
  }
  EXPECT_EQ(math::pow(7.0, 0.0), 1.0);
}

TEST(Math, EveryBuildGivesTheSameBits) {
  Random random(6);
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](double value) { hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3u; };
  for (int i = 0; i < 20000; ++i) {
    const double x = random.between(-600.0, 600.0);
    add(math::exp(x));
    add(math::log(x * x + 1e-9));
    add(math::tanh(x * 0.01));
    const math::SinCos value = math::sincos(x * 1e6);
    add(value.sin);
    add(value.cos);
    add(math::pow(10000.0, x * 0.002));
  }
  EXPECT_EQ(hash, 18108506804322292483u);
}

}  // namespace
}  // namespace layerstream

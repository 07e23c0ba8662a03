// SPDX-License-Identifier: MIT
// Element-wise operations and norms: equal to the scalar oracles, and close to libm in double.

#include "kernels/vector_ops.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/ref/ref.h"
#include "test_data.h"

namespace layerstream {
namespace {

using test::Random;
using test::random_vector;

double relative_error(float got, double expected) { return std::fabs(static_cast<double>(got) - expected) / std::fabs(expected); }

TEST(ExpF32, IsWithin3em7OfLibmOverItsWholeRange) {
  double worst = 0.0;
  std::vector<float> x(4);
  std::vector<float> y(4);
  for (float at = -87.33f; at < 88.7f; at += 0.00037f) {
    for (std::size_t i = 0; i < 4; ++i) x[i] = at + 0.00009f * static_cast<float>(i);
    kernels::exp_f32(x.data(), y.data(), 4);
    for (std::size_t i = 0; i < 4; ++i) worst = std::max(worst, relative_error(y[i], std::exp(static_cast<double>(x[i]))));
  }
  EXPECT_LT(worst, 3e-7);
  EXPECT_GT(worst, 1e-9) << "the sweep measured nothing";
}

TEST(ExpF32, EndsInInfinityZeroAndNaN) {
  const float in[] = {0.0f, -0.0f, 88.73f, 1e30f, INFINITY, -104.0f, -1e30f, -INFINITY, NAN, -90.0f, -103.0f};
  float out[std::size(in)];
  kernels::exp_f32(in, out, std::size(in));
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], 1.0f);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(out[i], INFINITY);
  for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(out[i], 0.0f);
  EXPECT_TRUE(std::isnan(out[8]));
  EXPECT_NEAR(static_cast<double>(out[9]), std::exp(-90.0), 1e-45);  // subnormal, gradual
  EXPECT_GT(out[10], 0.0f);
}

TEST(ExpF32, ALaneDoesNotDependOnItsNeighbours) {
  Random random(31);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> x = random_vector(random, random.between(1, 23), 100.0f);
    if (round % 5 == 0) x[0] = NAN;
    std::vector<float> y(x.size());
    kernels::exp_f32(x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      float one = 0.0f;
      kernels::exp_f32(&x[i], &one, 1);
      EXPECT_TRUE(test::same(one, y[i]));
      EXPECT_TRUE(test::same(kernels::ref::exp_f32(x[i]), y[i])) << x[i];
    }
  }
}

TEST(ElementWise, EqualsTheScalarOracleForEveryLength) {
  Random random(32);
  for (std::size_t length = 0; length < 40; ++length) {
    for (int round = 0; round < 8; ++round) {
      const float size = round < 4 ? 4.0f : 60.0f;
      const auto a = random_vector(random, length, size);
      const auto b = random_vector(random, length, size);
      const auto check = [&](const char* name, const std::vector<float>& got, auto expected) {
        for (std::size_t i = 0; i < length; ++i) ASSERT_TRUE(test::same(got[i], expected(i))) << name << " " << a[i] << " " << b[i];
      };
      auto y = b;
      kernels::add(a.data(), y.data(), length);
      check("add", y, [&](std::size_t i) { return b[i] + a[i]; });
      y = b;
      kernels::multiply(a.data(), y.data(), length);
      check("multiply", y, [&](std::size_t i) { return b[i] * a[i]; });
      y = b;
      kernels::scale(1.7f, y.data(), length);
      check("scale", y, [&](std::size_t i) { return b[i] * 1.7f; });
      y = a;
      kernels::silu_multiply(y.data(), b.data(), y.data(), length);  // in place of gate
      check("silu", y, [&](std::size_t i) { return kernels::ref::silu(a[i]) * b[i]; });
      y = b;
      kernels::gelu_multiply(a.data(), y.data(), y.data(), length);  // in place of up
      check("gelu_multiply", y, [&](std::size_t i) { return kernels::ref::gelu(a[i]) * b[i]; });
      y = a;
      kernels::gelu(y.data(), length);
      check("gelu", y, [&](std::size_t i) { return kernels::ref::gelu(a[i]); });
      y = a;
      kernels::soft_cap(30.0f, y.data(), length);
      check("soft_cap", y, [&](std::size_t i) { return kernels::ref::soft_cap(30.0f, a[i]); });
    }
  }
}

TEST(Activations, AreCloseToLibmInDouble) {
  for (float x = -30.0f; x < 30.0f; x += 0.0113f) {
    const double d = static_cast<double>(x);
    float y = x;
    const float one = 1.0f;
    kernels::silu_multiply(&x, &one, &y, 1);
    EXPECT_NEAR(static_cast<double>(y), d / (1.0 + std::exp(-d)), 4e-7 * std::fabs(d) + 1e-30);
    y = x;
    kernels::gelu(&y, 1);
    const double inner = std::sqrt(2.0 / M_PI) * (d + 0.044715 * d * d * d);
    EXPECT_NEAR(static_cast<double>(y), 0.5 * d * (1.0 + std::tanh(inner)), 1e-6 * std::fabs(d) + 1e-7) << x;
    y = x;
    kernels::soft_cap(5.0f, &y, 1);
    EXPECT_NEAR(static_cast<double>(y), 5.0 * std::tanh(d / 5.0), 6e-7 * std::fabs(5.0 * std::tanh(d / 5.0)) + 1e-30) << x;
  }
}

TEST(Activations, LargeAndNonFiniteInputsAreDefined) {
  float y[] = {1e30f, -1e30f, INFINITY, -INFINITY, NAN};
  kernels::soft_cap(30.0f, y, 5);
  EXPECT_EQ(y[0], 30.0f);
  EXPECT_EQ(y[1], -30.0f);
  EXPECT_EQ(y[2], 30.0f);
  EXPECT_EQ(y[3], -30.0f);
  EXPECT_TRUE(std::isnan(y[4]));
  float g[] = {1e30f, -1e30f, NAN};
  kernels::gelu(g, 3);
  EXPECT_EQ(g[0], 1e30f);
  EXPECT_EQ(g[1], 0.0f);
  EXPECT_TRUE(std::isnan(g[2]));
}

TEST(Norms, EqualTheScalarOracleAndADoubleOne) {
  Random random(33);
  for (std::size_t length = 1; length < 150; ++length) {
    const auto x = random_vector(random, length, 5.0f);
    const auto w = random_vector(random, length);
    const auto b = random_vector(random, length);
    std::vector<float> y(length), z(length);
    kernels::rms_norm(x.data(), w.data(), 1e-5f, y.data(), length);
    kernels::ref::rms_norm(x.data(), w.data(), 1e-5f, z.data(), length);
    ASSERT_EQ(test::first_difference(y, z), length);
    double squares = 0.0;
    double mean = 0.0;
    for (const float v : x) {
      squares += static_cast<double>(v) * v / static_cast<double>(length);
      mean += static_cast<double>(v) / static_cast<double>(length);
    }
    for (std::size_t i = 0; i < length; ++i) {
      const double expected = x[i] / std::sqrt(squares + static_cast<double>(1e-5f)) * w[i];
      ASSERT_NEAR(static_cast<double>(y[i]), expected, 3e-7 * std::fabs(expected));
    }
    for (const float* bias : {static_cast<const float*>(nullptr), b.data()}) {
      kernels::layer_norm(x.data(), w.data(), bias, 1e-5f, y.data(), length);
      kernels::ref::layer_norm(x.data(), w.data(), bias, 1e-5f, z.data(), length);
      ASSERT_EQ(test::first_difference(y, z), length);
      double variance = 0.0;
      for (const float v : x) variance += (v - mean) * (v - mean) / static_cast<double>(length);
      for (std::size_t i = 0; i < length; ++i) {
        const double s = 1.0 / std::sqrt(variance + static_cast<double>(1e-5f));
        const double expected = (x[i] - mean) * s * w[i] + (bias == nullptr ? 0.0 : static_cast<double>(bias[i]));
        ASSERT_NEAR(static_cast<double>(y[i]), expected, 1e-6 * (std::fabs(expected) + s * (std::fabs(mean) + 1.0)));
      }
    }
  }
}

TEST(Norms, WorkInPlaceAndSurviveLargeValues) {
  std::vector<float> x(37, 1e30f);  // the square overflows f32, not double
  const std::vector<float> w(37, 1.0f);
  kernels::rms_norm(x.data(), w.data(), 1e-5f, x.data(), x.size());
  for (const float v : x) EXPECT_NEAR(v, 1.0f, 1e-6f);
  std::vector<float> zeros(9, 0.0f);
  kernels::rms_norm(zeros.data(), w.data(), 1e-6f, zeros.data(), zeros.size());
  for (const float v : zeros) EXPECT_EQ(v, 0.0f);
  kernels::layer_norm(x.data(), w.data(), nullptr, 1e-5f, x.data(), x.size());
  for (const float v : x) EXPECT_TRUE(std::isfinite(v));
}

}  // namespace
}  // namespace layerstream

// SPDX-License-Identifier: MIT
// Scalar oracles of vector_ops.h, rope.h and activations.h.

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/activations.h"
#include "kernels/elementary.h"
#include "kernels/ref/ref.h"

namespace layerstream::kernels::ref {
namespace {

float two_to(std::int32_t exponent) { return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23); }

double four_lanes(const double (&lanes)[4]) { return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]); }

}  // namespace

float exp_f32(float x) {
  using namespace constants;
  if (x != x) return x;
  if (x > kExpMax) x = kExpMax;
  if (x < kExpMin) x = kExpMin;
  const float multiple = (x * kInverseLn2 + kRoundToInteger) - kRoundToInteger;
  const float r = (x - multiple * kLn2High) - multiple * kLn2Low;
  float sum = kExp[4];
  for (std::size_t i = 4; i-- > 0;) sum = sum * r + kExp[i];
  const float value = 1.0f + (r + (r * r) * sum);
  const std::int32_t exponent = static_cast<std::int32_t>(multiple);
  const std::int32_t half = exponent >> 1;
  return (value * two_to(half)) * two_to(exponent - half);
}

float tanh_f32(float x) {
  using namespace constants;
  const float magnitude = std::fabs(x);
  float value = 0.0f;
  if (magnitude < kTanhSmall) {
    const float square = magnitude * magnitude;
    float sum = kTanh[5];
    for (std::size_t i = 5; i-- > 0;) sum = sum * square + kTanh[i];
    value = magnitude + (magnitude * square) * sum;
  } else {
    value = 1.0f - 2.0f / (exp_f32(magnitude + magnitude) + 1.0f);
  }
  return std::signbit(x) ? -value : value;
}

float silu(float x) { return x / (1.0f + exp_f32(-x)); }

float gelu(float x) {
  using namespace constants;
  const float u = kGeluInner * (x + kGeluCubic * ((x * x) * x));
  return x / (1.0f + exp_f32(-2.0f * u));
}

float soft_cap(float cap, float x) { return cap * tanh_f32(x / cap); }

void rms_norm(const float* x, const float* weight, float eps, float* y, std::size_t length) {
  double lanes[4] = {};
  for (std::size_t i = 0; i < length; ++i) {
    const double value = static_cast<double>(x[i]);
    lanes[i % 4] = lanes[i % 4] + value * value;
  }
  const double mean = four_lanes(lanes) / static_cast<double>(length);
  const float s = static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(eps)));
  for (std::size_t i = 0; i < length; ++i) y[i] = (x[i] * s) * weight[i];
}

void layer_norm(const float* x, const float* weight, const float* bias, float eps, float* y, std::size_t length) {
  double lanes[4] = {};
  for (std::size_t i = 0; i < length; ++i) lanes[i % 4] = lanes[i % 4] + static_cast<double>(x[i]);
  const double mean = four_lanes(lanes) / static_cast<double>(length);
  double squares[4] = {};
  for (std::size_t i = 0; i < length; ++i) {
    const double d = static_cast<double>(x[i]) - mean;
    squares[i % 4] = squares[i % 4] + d * d;
  }
  const double variance = four_lanes(squares) / static_cast<double>(length);
  const float s = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(eps)));
  const float centre = static_cast<float>(mean);
  for (std::size_t i = 0; i < length; ++i) {
    const float value = ((x[i] - centre) * s) * weight[i];
    y[i] = bias == nullptr ? value : value + bias[i];
  }
}

void rope_apply(RopePairs pairs, const float* cos, const float* sin, std::size_t n_pairs, float* heads, std::size_t n_heads,
                std::size_t head_dim) {
  for (std::size_t h = 0; h < n_heads; ++h) {
    for (std::size_t i = 0; i < n_pairs; ++i) {
      float& a = heads[h * head_dim + (pairs == RopePairs::adjacent ? 2 * i : i)];
      float& b = heads[h * head_dim + (pairs == RopePairs::adjacent ? 2 * i + 1 : i + n_pairs)];
      const float old_a = a;
      a = old_a * cos[i] - b * sin[i];
      b = old_a * sin[i] + b * cos[i];
    }
  }
}

void quantize_activations(const float* x, std::size_t length, std::int8_t* q, float* scales, std::int32_t* sums) {
  for (std::size_t block = 0; block < length / 32; ++block) {
    const float* values = x + 32 * block;
    float greatest = 0.0f;
    bool finite = true;
    for (std::size_t i = 0; i < 32; ++i) {
      finite = finite && std::isfinite(values[i]);
      if (std::fabs(values[i]) > greatest) greatest = std::fabs(values[i]);
    }
    const bool tiny = greatest < 0x1p-120f;
    scales[block] = !finite ? std::numeric_limits<float>::quiet_NaN() : (tiny ? 0.0f : greatest / 127.0f);
    const float factor = !finite || tiny ? 0.0f : 127.0f / greatest;
    std::int32_t halves[2] = {};
    for (std::size_t i = 0; i < 32; ++i) {
      // Half to even by hand: nearest of floor and floor + 1, the even one of two equally near.
      const float scaled = finite ? values[i] * factor : 0.0f;
      const float below = std::floor(scaled);
      const float rest = scaled - below;
      const std::int32_t low = static_cast<std::int32_t>(below);
      const bool up = rest > 0.5f || (rest == 0.5f && low % 2 != 0);
      q[32 * block + i] = static_cast<std::int8_t>(low + (up ? 1 : 0));
      halves[i / 16] += q[32 * block + i];
    }
    sums[block] = pack_sums(halves[0], halves[1]);
  }
}

}  // namespace layerstream::kernels::ref

#pragma once
// SPDX-License-Identifier: MIT
// e^x and tanh on four floats, and what is made of them. Coefficients are our own fits (Chebyshev nodes, 60-digit
// arithmetic); every lane is a function of its own input alone. ref/elementary.h is the same in scalar form.

#include "simd/simd.h"

namespace layerstream::kernels {

namespace constants {
inline constexpr float kExpMax = 89.0f;    // e^89 overflows to infinity
inline constexpr float kExpMin = -104.0f;  // e^-104 rounds to 0
inline constexpr float kInverseLn2 = 1.4426950408889634f;
inline constexpr float kLn2High = 0x1.62e4p-1f;  // 16 bits: exact times any exponent
inline constexpr float kLn2Low = 1.4286068203094173e-06f;
inline constexpr float kRoundToInteger = 12582912.0f;  // 1.5 * 2^23: the sum's low bits are the rounded integer
inline constexpr std::uint32_t kRoundToIntegerBits = 0x4b400000u;
// (e^r - 1 - r) / r^2 on |r| <= 0.352, relative error of e^r 1e-8.
inline constexpr float kExp[] = {0.5f, 0.1666657127193246f, 0.04166654747453603f, 0.008364116431137533f, 0.0013927354517056561f};
// (tanh(z) / z - 1) / z^2 as a polynomial of z^2 on z^2 <= 0.41, relative error 8e-10.
inline constexpr float kTanh[] = {-0.3333333312229775f,  0.13333296187896468f,   -0.05395755792137659f,
                                  0.021755411781330506f, -0.008300794841725993f, 0.0022450311855892247f};
inline constexpr float kTanhSmall = 0.625f;
inline constexpr float kGeluInner = 0.7978845608028654f;  // sqrt(2 / pi)
inline constexpr float kGeluCubic = 0.044715f;
}  // namespace constants

// Relative error below 3e-7 where the result is normal; gradual underflow, overflow to +inf, NaN stays NaN.
LAYERSTREAM_INLINE simd::f32x4 exp4(simd::f32x4 x) {
  using namespace constants;
  const simd::f32x4 clamped = simd::pmax(simd::pmin(x, simd::splat_f32(kExpMax)), simd::splat_f32(kExpMin));
  const simd::f32x4 shifted = clamped * kInverseLn2 + kRoundToInteger;
  const simd::f32x4 multiple = shifted - kRoundToInteger;
  const simd::f32x4 r = (clamped - multiple * kLn2High) - multiple * kLn2Low;
  const simd::f32x4 sum = (((kExp[4] * r + kExp[3]) * r + kExp[2]) * r + kExp[1]) * r + kExp[0];
  const simd::f32x4 value = 1.0f + (r + (r * r) * sum);
  // 2^multiple as two factors, so that subnormal results are rounded once and 2^128 is never formed.
  const simd::i32x4 exponent = simd::as_i32(simd::as_u32(shifted) - kRoundToIntegerBits);
  const simd::i32x4 half = exponent >> 1;
  const simd::u32x4 low = (simd::as_u32(half) + 127u) << 23;
  const simd::u32x4 high = (simd::as_u32(exponent) - simd::as_u32(half) + 127u) << 23;
  return (value * simd::as_f32(low)) * simd::as_f32(high);
}

// Relative error below 5e-7.
LAYERSTREAM_INLINE simd::f32x4 tanh4(simd::f32x4 z) {
  using namespace constants;
  const simd::u32x4 sign = simd::as_u32(z) & 0x80000000u;
  const simd::f32x4 magnitude = simd::as_f32(simd::as_u32(z) ^ sign);
  const simd::f32x4 square = magnitude * magnitude;
  simd::f32x4 sum = simd::splat_f32(kTanh[5]);
  simd::unroll<5>([&](auto i) __attribute__((always_inline)) { sum = sum * square + kTanh[4 - i]; });
  const simd::f32x4 small = magnitude + (magnitude * square) * sum;
  const simd::f32x4 large = 1.0f - 2.0f / (exp4(magnitude + magnitude) + 1.0f);
  const simd::f32x4 value = simd::select(magnitude < simd::splat_f32(kTanhSmall), small, large);
  return simd::as_f32(simd::as_u32(value) | sign);
}

// x / (1 + e^-x)
LAYERSTREAM_INLINE simd::f32x4 silu4(simd::f32x4 x) { return x / (1.0f + exp4(-x)); }

// 0.5 x (1 + tanh(u)) = x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3)
LAYERSTREAM_INLINE simd::f32x4 gelu4(simd::f32x4 x) {
  using namespace constants;
  const simd::f32x4 u = kGeluInner * (x + kGeluCubic * ((x * x) * x));
  return x / (1.0f + exp4(-2.0f * u));
}

// cap * tanh(x / cap)
LAYERSTREAM_INLINE simd::f32x4 soft_cap4(simd::f32x4 x, simd::f32x4 cap) { return cap * tanh4(x / cap); }

}  // namespace layerstream::kernels

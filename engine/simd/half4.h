#pragma once
// SPDX-License-Identifier: MIT
// Four halves <-> four floats, equal to base/half.h for every finite number and infinity; NaN stays NaN (its payload is not
// part of the contract) except where said.
// Scales are converted by integer arithmetic and one exact float addition: a subnormal operand of a multiplication costs a
// microcode assist on some CPUs, and scales of small weights are often subnormal; values of weights and caches seldom are.

#include "base/half.h"
#include "simd/simd.h"

namespace layerstream::simd {

// Halves in the low 16 bits of each lane; the upper bits are zero.
LAYERSTREAM_INLINE f32x4 half_to_float4(u32x4 halves) {
  const u32x4 magnitude = halves & 0x7fffu;
  const u32x4 sign = (halves ^ magnitude) << 16;
  // By the sign of a difference: compilers, who know that nothing is negative, make unsigned comparisons of signed ones, which are
  // five instructions.
  const u32x4 is_small = (u32x4)((as_i32(magnitude) - 0x400) >> 31);    // zero or subnormal
  const u32x4 is_special = (u32x4)((0x7bff - as_i32(magnitude)) >> 31);  // infinity or NaN
  // Exponent bias 15 -> 127. A subnormal gets an implicit one (exponent 113) that the subtraction takes away.
  const u32x4 bias = splat_u32(112u << 23);
  const u32x4 bits = ((magnitude << 13) + bias) - (is_small << 23) + (is_special & bias);
  const f32x4 value = as_f32(bits) - as_f32(is_small & (113u << 23));
  return as_f32(as_u32(value) | sign);
}

// Round to nearest even. Result in the low 16 bits of each lane.
LAYERSTREAM_INLINE u32x4 float_to_half4(f32x4 values) {
  const u32x4 bits = as_u32(values);
  const u32x4 magnitude = bits & 0x7fffffffu;
  const u32x4 sign = (bits ^ magnitude) >> 16;
  const i32x4 signed_magnitude = as_i32(magnitude);
  // Normal half: add half a unit (and one more if the kept part is odd), rebias, cut.
  const u32x4 normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  // Below 2^-14: adding 0.5 puts the units of 2^-24 into the last place of the sum, which the FPU rounds.
  const f32x4 shifted = as_f32(magnitude) + 0.5f;
  const u32x4 small = as_u32(shifted) - 0x3f000000u;
  const u32x4 is_small = (u32x4)(signed_magnitude < 0x38800000);
  const u32x4 is_large = (u32x4)(signed_magnitude > 0x477fefff);  // 65520 and above
  const u32x4 is_nan = (u32x4)(signed_magnitude > 0x7f800000);
  const u32x4 large = 0x7c00u | (is_nan & 0x0200u);
  const u32x4 finite = (small & is_small) | (normal & ~is_small);
  return sign | (large & is_large) | (finite & ~is_large);
}

// Four halves, 8 bytes, of any value; a NaN becomes an infinity. The exponent is moved by multiplications, exact for subnormals
// too, by way of a range in which just the halves that are not finite overflow.
LAYERSTREAM_INLINE f32x4 load_half4(const void* p) {
  const u32x4 bits = as_u32(load_i16_as_i32(p)) << 13;  // sign, three copies of it, exponent, mantissa
  return ((as_f32(bits & 0x8fffffffu) * 0x1p127f) * 0x1p97f) * 0x1p-112f;
}

// The half at p in every lane. Scalar: those instructions run beside the vector ones.
LAYERSTREAM_INLINE f32x4 splat_half4(const std::byte* p) {
  std::uint16_t half;
  std::memcpy(&half, p, sizeof half);
  return splat_f32(half_to_float(half));
}

// The half at p, at p + stride, ...: `count` (1..4) of them, the other lanes zero.
LAYERSTREAM_INLINE f32x4 gather_half4(const std::byte* p, std::size_t stride_bytes, std::size_t count) {
  std::uint16_t halves[4] = {};
  if (count == 4) {
    unroll<4>([&](auto i) __attribute__((always_inline)) { std::memcpy(&halves[i], p + i * stride_bytes, 2); });
  } else {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(&halves[i], p + i * stride_bytes, 2);
  }
  return half_to_float4(u32x4{halves[0], halves[1], halves[2], halves[3]});
}

}  // namespace layerstream::simd

#pragma once
// SPDX-License-Identifier: MIT
// 128-bit SIMD under the same names in every build; the bits of a result never depend on the back end.
// A kernel includes this file, uses only these names and + - * / & | ^ ~ << >> < == on the vector types.
//
// In vec.h (compiler vector extensions, one text for all builds):          cost in instructions, x86 / wasm
//   f32x4 f64x2 i32x4 u32x4 u64x2 i16x8 u16x8 i8x16 u8x16                 the types
//   load_f32 load_i32 load_u8, store_f32 store_u8                         1
//   load_f32_part load_i32_part store_f32_part (tails, fewer than 4)      a call or a few: tails only
//   splat_f32 splat_f64 splat_i32 splat_u32 splat_i16 splat_u8            1, constants are hoisted
//   as_u32 as_i32 as_f32 as_i16 as_i8                                     0
//   to_f32                                                                1
//   promote_low promote_high                                              1, 2
//   shift_right_u8<N> shift_left_u8<N>                                    2 (16-bit shift and mask)
//   join_u64 join_u32                                                     2, 4
//   low_halves high_halves interleave_low_u8 interleave_high_u8           1
//   where_bit (bits to bytes)                                             3
//   minus_128 any_bit                                                     1, 2
//   select                                                                3 / 1
//   hold                                                                  0
//   transpose                                                             8 shuffles
//   lane_sums                                                             6 shuffles, 3 adds
//   reduce_add                                                            about 6
//   even_lanes odd_lanes interleave_low interleave_high                   1
//   low_bytes                                                             5-7
// In the back ends:
//   pmin pmax      b < a ? b : a and a < b ? b : a, so a NaN in a stays, a NaN in b is ignored     1
//   max_i32                                                               1
//   load_i8_as_i32 load_i16_as_i32  sign-extended                         1-3, 1
//   load_u16_as_u32 bytes_as_i32  zero-extended; the lowest byte first    1-2
//   lookup16       byte i = table[index[i]], index 0..15                    1
//   spread_bits    bits to bytes; needs lookup16, so at the end of this file                      4
//   dot_i16        lane j = a[2j] b[2j] + a[2j+1] b[2j+1]                 1
//   splat_4_bytes load_i8_as_i16 widen_low widen_high                     1
//   dot_pairs add_dot_quads abs_i8 signs_of with_signs   where the build has byte dots: for dots.h alone
// In dots.h: Dot, OtherDot, ExactDot.
// In half4.h: half_to_float4, float_to_half4, load_half4, splat_half4, gather_half4.

#if defined(__wasm_relaxed_simd__)
#include "simd/wasm128_relaxed.h"
#elif defined(__wasm_simd128__)
#include "simd/wasm128.h"
#else
#include "simd/native128.h"
#endif

#include "simd/dots.h"

namespace layerstream::simd {

// Byte i is `value` where bit i of the 16 bits in bytes First and First + 1 of v is set, else 0. (A shuffle of bytes would
// have its pattern built anew at every use: browsers keep a look-up's index in a register.)
template <std::uint8_t First>
LAYERSTREAM_INLINE u8x16 spread_bits(u8x16 v, std::uint8_t value) {
  constexpr std::uint8_t n = First + 1;
  const u8x16 index = {First, First, First, First, First, First, First, First, n, n, n, n, n, n, n, n};
  const u8x16 bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  return (u8x16)((lookup16(v, index) & bit) == bit) & splat_u8(value);
}

}  // namespace layerstream::simd

#pragma once
// SPDX-License-Identifier: MIT
// wasm back end, fixed-width SIMD. The only file that includes wasm_simd128.h (the relaxed build's
// wasm128_relaxed.h builds on this one). Names and costs: see simd.h.

#include <wasm_simd128.h>

#include "simd/vec.h"

namespace layerstream::simd {
inline namespace wasm128 {

LAYERSTREAM_INLINE f32x4 pmin(f32x4 a, f32x4 b) { return (f32x4)wasm_f32x4_pmin((v128_t)a, (v128_t)b); }
LAYERSTREAM_INLINE f32x4 pmax(f32x4 a, f32x4 b) { return (f32x4)wasm_f32x4_pmax((v128_t)a, (v128_t)b); }
LAYERSTREAM_INLINE i32x4 max_i32(i32x4 a, i32x4 b) { return (i32x4)wasm_i32x4_max((v128_t)a, (v128_t)b); }
LAYERSTREAM_INLINE i32x4 dot_i16(i16x8 a, i16x8 b) { return (i32x4)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b); }
LAYERSTREAM_INLINE i32x4 load_i8_as_i32(const void* p) {
  return (i32x4)wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(p)));
}
LAYERSTREAM_INLINE i32x4 load_i16_as_i32(const void* p) { return (i32x4)wasm_i32x4_load16x4(p); }
LAYERSTREAM_INLINE u32x4 load_u16_as_u32(const void* p) { return (u32x4)wasm_u32x4_load16x4(p); }
LAYERSTREAM_INLINE i32x4 bytes_as_i32(std::uint32_t four_bytes) {
  const v128_t bytes = (v128_t)u32x4{four_bytes, 0, 0, 0};
  return (i32x4)wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(bytes));
}
LAYERSTREAM_INLINE u8x16 lookup16(u8x16 table, u8x16 index) { return (u8x16)wasm_i8x16_swizzle((v128_t)table, (v128_t)index); }

LAYERSTREAM_INLINE i8x16 splat_4_bytes(const void* p) { return (i8x16)wasm_v128_load32_splat(p); }

// Both operands widened to 16 bits: exact for every code, -128 included.
struct ExactDot {
  struct Codes {
    i16x8 low;
    i16x8 high;
  };
  using Unsigned = Codes;
  using Signed = Codes;
  static constexpr bool kMinus128Exact = true;

  static LAYERSTREAM_INLINE Codes prepare_signed(i8x16 codes) {
    return {(i16x8)wasm_i16x8_extend_low_i8x16((v128_t)codes), (i16x8)wasm_i16x8_extend_high_i8x16((v128_t)codes)};
  }
  static LAYERSTREAM_INLINE Codes prepare_unsigned(u8x16 codes) { return prepare_signed(as_i8(codes)); }
  using Values = Codes;
  static LAYERSTREAM_INLINE Values load_values(const std::int8_t* x) {
    return {(i16x8)wasm_i16x8_load8x8(x), (i16x8)wasm_i16x8_load8x8(x + 8)};
  }
  static LAYERSTREAM_INLINE i32x4 dot16(Values x, Codes w) { return dot_i16(x.low, w.low) + dot_i16(x.high, w.high); }
  template <int kMaxCode>
  static LAYERSTREAM_INLINE i32x4 dot32(Values x_first, Values x_second, Codes first, Codes second) {
    return dot16(x_first, first) + dot16(x_second, second);
  }

  // Four rows times four values of x, weights row after row. Lanes: two partial sums of each of two rows.
  struct RowSums {
    i32x4 low;
    i32x4 high;
  };
  static LAYERSTREAM_INLINE RowSums start_rows(i32x4 sums) {
    return {interleave_low_i32(sums, i32x4{}), interleave_high_i32(sums, i32x4{})};
  }
  static LAYERSTREAM_INLINE void add_rows(RowSums& sums, const std::int8_t* x, Codes w) {
    const i16x8 values = (i16x8)wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(x));
    sums.low += dot_i16(values, w.low);
    sums.high += dot_i16(values, w.high);
  }
  static LAYERSTREAM_INLINE i32x4 rows(const RowSums& sums) {
    return __builtin_shufflevector(sums.low, sums.high, 0, 2, 4, 6) + __builtin_shufflevector(sums.low, sums.high, 1, 3, 5, 7);
  }
};

#if !defined(__wasm_relaxed_simd__)
using Dot = ExactDot;
#endif

}  // namespace wasm128
}  // namespace layerstream::simd

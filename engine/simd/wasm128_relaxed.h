#pragma once
// SPDX-License-Identifier: MIT
// wasm back end, relaxed build: wasm128.h with the integer dot as i32x4.relaxed_dot_i8x16_i7x16_add_s, the only
// relaxed opcode allowed. Its second operand must lie in 0..127, then every engine and CPU gives the exact sum.
// Compiled into the kernel files alone (-mrelaxed-simd).

#include "simd/wasm128.h"

namespace layerstream::simd {
inline namespace wasm128_relaxed {

struct Dot {
  struct Unsigned {
    i8x16 codes;
  };
  struct Signed {
    i8x16 magnitudes;
    i8x16 signs;  // all ones where the code is negative
  };
  // |-128| is no 7-bit number: the sum is then unspecified and the caller must use ExactDot.
  static constexpr bool kMinus128Exact = false;

  static LAYERSTREAM_INLINE Unsigned prepare_unsigned(u8x16 codes) { return {as_i8(codes)}; }
  static LAYERSTREAM_INLINE Signed prepare_signed(i8x16 codes) {
    return {(i8x16)wasm_i8x16_abs((v128_t)codes), (i8x16)(codes < 0)};
  }

  static LAYERSTREAM_INLINE i32x4 add(i32x4 acc, i8x16 x, Unsigned w) {
    return (i32x4)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)x, (v128_t)w.codes, (v128_t)acc);
  }
  static LAYERSTREAM_INLINE i32x4 add(i32x4 acc, i8x16 x, Signed w) {
    return (i32x4)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)((x ^ w.signs) - w.signs), (v128_t)w.magnitudes, (v128_t)acc);
  }
  using Values = i8x16;
  static LAYERSTREAM_INLINE Values load_values(const std::int8_t* x) { return as_i8(load_u8(x)); }
  template <typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot16(Values x, Weights w) {
    return add(i32x4{}, x, w);
  }
  template <int kMaxCode, typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot32(Values x_first, Values x_second, Weights first, Weights second) {
    return add(add(i32x4{}, x_first, first), x_second, second);
  }

  // Four rows times four values of x, weights row after row: lanes are rows.
  using RowSums = i32x4;
  static LAYERSTREAM_INLINE RowSums start_rows(i32x4 sums) { return sums; }
  template <typename Weights>
  static LAYERSTREAM_INLINE void add_rows(RowSums& sums, const std::int8_t* x, Weights w) {
    sums = add(sums, splat_4_bytes(x), w);
  }
  static LAYERSTREAM_INLINE i32x4 rows(RowSums sums) { return sums; }
};

}  // namespace wasm128_relaxed
}  // namespace layerstream::simd

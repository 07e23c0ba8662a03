#pragma once
// SPDX-License-Identifier: MIT
// wasm back end, relaxed build: wasm128.h and the two widths of the relaxed integer dot, the only relaxed opcodes allowed. Their
// second operand must lie in 0..127: then every engine and processor gives the exact sum, in 16 bits too (127 * 127 * 2 fits).
// Compiled into the kernel files alone (-mrelaxed-simd).

#include "simd/wasm128.h"

#define LAYERSTREAM_SIMD_PAIRS 1
#define LAYERSTREAM_SIMD_QUADS 1

namespace layerstream::simd {
inline namespace wasm128_relaxed {

constexpr bool kPairsTake128 = false;
LAYERSTREAM_INLINE i16x8 dot_pairs(i8x16 x, i8x16 codes) { return (i16x8)wasm_i16x8_relaxed_dot_i8x16_i7x16((v128_t)x, (v128_t)codes); }
LAYERSTREAM_INLINE i32x4 add_dot_quads(i32x4 sums, i8x16 x, i8x16 codes) {
  return (i32x4)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)x, (v128_t)codes, (v128_t)sums);
}
LAYERSTREAM_INLINE i8x16 abs_i8(i8x16 v) { return (i8x16)wasm_i8x16_abs((v128_t)v); }
LAYERSTREAM_INLINE i8x16 signs_of(i8x16 codes) { return (i8x16)(codes < 0); }
LAYERSTREAM_INLINE i8x16 with_signs(i8x16 x, i8x16 signs) { return (x ^ signs) - signs; }

}  // namespace wasm128_relaxed
}  // namespace layerstream::simd

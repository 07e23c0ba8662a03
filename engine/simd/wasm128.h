#pragma once
// SPDX-License-Identifier: MIT
// wasm back end, fixed-width SIMD. The only file that includes wasm_simd128.h (the relaxed build's
// wasm128_relaxed.h builds on this one). Names and costs: see simd.h.

#include <wasm_simd128.h>

#include "simd/vec.h"

#if !defined(__wasm_relaxed_simd__)
#define LAYERSTREAM_SIMD_PAIRS 0
#define LAYERSTREAM_SIMD_QUADS 0
#endif

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
LAYERSTREAM_INLINE i16x8 load_i8_as_i16(const std::int8_t* p) { return (i16x8)wasm_i16x8_load8x8(p); }
LAYERSTREAM_INLINE i16x8 widen_low(i8x16 v) { return (i16x8)wasm_i16x8_extend_low_i8x16((v128_t)v); }
LAYERSTREAM_INLINE i16x8 widen_high(i8x16 v) { return (i16x8)wasm_i16x8_extend_high_i8x16((v128_t)v); }

}  // namespace wasm128
}  // namespace layerstream::simd

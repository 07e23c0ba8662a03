#pragma once
// SPDX-License-Identifier: MIT
// Native back end: SSE4.1 where the compiler may use it (x86-64-v2), plain vector extensions elsewhere.
// Same names and same bits as wasm128.h; see simd.h.

#include "simd/vec.h"

#if defined(__SSE4_1__) && !defined(LAYERSTREAM_SIMD_PORTABLE)
#include <smmintrin.h>
#define LAYERSTREAM_SIMD_SSE 1
#else
#define LAYERSTREAM_SIMD_SSE 0
#endif

#define LAYERSTREAM_SIMD_PAIRS LAYERSTREAM_SIMD_SSE
#define LAYERSTREAM_SIMD_QUADS 0

namespace layerstream::simd {
inline namespace native128 {

#if LAYERSTREAM_SIMD_SSE

LAYERSTREAM_INLINE f32x4 pmin(f32x4 a, f32x4 b) { return (f32x4)_mm_min_ps((__m128)b, (__m128)a); }
LAYERSTREAM_INLINE f32x4 pmax(f32x4 a, f32x4 b) { return (f32x4)_mm_max_ps((__m128)b, (__m128)a); }
LAYERSTREAM_INLINE i32x4 max_i32(i32x4 a, i32x4 b) { return (i32x4)_mm_max_epi32((__m128i)a, (__m128i)b); }
LAYERSTREAM_INLINE i32x4 dot_i16(i16x8 a, i16x8 b) { return (i32x4)_mm_madd_epi16((__m128i)a, (__m128i)b); }
LAYERSTREAM_INLINE i32x4 load_i8_as_i32(const void* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return (i32x4)_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four));
}
LAYERSTREAM_INLINE i32x4 load_i16_as_i32(const void* p) {
  return (i32x4)_mm_cvtepi16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
}
LAYERSTREAM_INLINE u32x4 load_u16_as_u32(const void* p) {
  return (u32x4)_mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
}
LAYERSTREAM_INLINE i32x4 bytes_as_i32(std::uint32_t four_bytes) {
  return (i32x4)_mm_cvtepu8_epi32(_mm_cvtsi32_si128(static_cast<int>(four_bytes)));
}
LAYERSTREAM_INLINE u8x16 lookup16(u8x16 table, u8x16 index) { return (u8x16)_mm_shuffle_epi8((__m128i)table, (__m128i)index); }

LAYERSTREAM_INLINE i8x16 splat_4_bytes(const void* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return (i8x16)splat_i32(four);
}
LAYERSTREAM_INLINE i16x8 load_i8_as_i16(const std::int8_t* p) { return (i16x8)_mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))); }
LAYERSTREAM_INLINE i16x8 widen_low(i8x16 v) { return (i16x8)_mm_cvtepi8_epi16((__m128i)v); }
LAYERSTREAM_INLINE i16x8 widen_high(i8x16 v) { return (i16x8)_mm_cvtepi8_epi16(_mm_srli_si128((__m128i)v, 8)); }

// pmaddubsw takes unsigned weights and signed activations and adds pairs in 16 bits with saturation,
// which 2 * 128 * 127 = 32512 cannot reach: exact for every code, -128 included.
constexpr bool kPairsTake128 = true;
LAYERSTREAM_INLINE i16x8 dot_pairs(i8x16 x, i8x16 codes) { return (i16x8)_mm_maddubs_epi16((__m128i)codes, (__m128i)x); }
LAYERSTREAM_INLINE i8x16 abs_i8(i8x16 v) { return (i8x16)_mm_abs_epi8((__m128i)v); }
LAYERSTREAM_INLINE i8x16 signs_of(i8x16 codes) { return codes; }
LAYERSTREAM_INLINE i8x16 with_signs(i8x16 x, i8x16 signs) { return (i8x16)_mm_sign_epi8((__m128i)x, (__m128i)signs); }

#else  // plain vector extensions

LAYERSTREAM_INLINE f32x4 pmin(f32x4 a, f32x4 b) { return select(b < a, b, a); }
LAYERSTREAM_INLINE f32x4 pmax(f32x4 a, f32x4 b) { return select(a < b, b, a); }
LAYERSTREAM_INLINE i32x4 max_i32(i32x4 a, i32x4 b) { return (a & (a > b)) | (b & ~(a > b)); }
LAYERSTREAM_INLINE i32x4 dot_i16(i16x8 a, i16x8 b) {
  const i32x4 a_even = ((i32x4)a << 16) >> 16;
  const i32x4 b_even = ((i32x4)b << 16) >> 16;
  return a_even * b_even + ((i32x4)a >> 16) * ((i32x4)b >> 16);
}

LAYERSTREAM_INLINE i32x4 load_i8_as_i32(const void* p) {
  std::int8_t v[4];
  std::memcpy(v, p, sizeof v);
  return i32x4{v[0], v[1], v[2], v[3]};
}
LAYERSTREAM_INLINE i32x4 load_i16_as_i32(const void* p) {
  std::int16_t v[4];
  std::memcpy(v, p, sizeof v);
  return i32x4{v[0], v[1], v[2], v[3]};
}
LAYERSTREAM_INLINE u32x4 load_u16_as_u32(const void* p) {
  std::uint16_t v[4];
  std::memcpy(v, p, sizeof v);
  return u32x4{v[0], v[1], v[2], v[3]};
}
LAYERSTREAM_INLINE i32x4 bytes_as_i32(std::uint32_t four_bytes) {
  return as_i32(u32x4{four_bytes & 0xff, (four_bytes >> 8) & 0xff, (four_bytes >> 16) & 0xff, four_bytes >> 24});
}
LAYERSTREAM_INLINE u8x16 lookup16(u8x16 table, u8x16 index) {
  u8x16 out = {};
  for (std::size_t i = 0; i < 16; ++i) out[i] = table[index[i] & 15];
  return out;
}

LAYERSTREAM_INLINE i8x16 splat_4_bytes(const void* p) {
  std::int8_t v[4];
  std::memcpy(v, p, sizeof v);
  return i8x16{v[0], v[1], v[2], v[3], v[0], v[1], v[2], v[3], v[0], v[1], v[2], v[3], v[0], v[1], v[2], v[3]};
}
LAYERSTREAM_INLINE i16x8 load_i8_as_i16(const std::int8_t* p) { return i16x8{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}; }
LAYERSTREAM_INLINE i16x8 widen_low(i8x16 v) { return i16x8{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]}; }
LAYERSTREAM_INLINE i16x8 widen_high(i8x16 v) { return i16x8{v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]}; }

#endif

}  // namespace native128
}  // namespace layerstream::simd

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

// pmaddubsw takes unsigned weights and signed activations and adds pairs in 16 bits with saturation,
// which 2 * 128 * 127 = 32512 cannot reach: exact for every code, -128 included.
struct Dot {
  struct Unsigned {
    i8x16 codes;
  };
  struct Signed {
    i8x16 magnitudes;
    i8x16 codes;
  };
  static constexpr bool kMinus128Exact = true;

  static LAYERSTREAM_INLINE Unsigned prepare_unsigned(u8x16 codes) { return {as_i8(codes)}; }
  static LAYERSTREAM_INLINE Signed prepare_signed(i8x16 codes) { return {(i8x16)_mm_abs_epi8((__m128i)codes), codes}; }

  static LAYERSTREAM_INLINE i16x8 pairs(u8x16 x, Unsigned w) { return (i16x8)_mm_maddubs_epi16((__m128i)w.codes, (__m128i)x); }
  static LAYERSTREAM_INLINE i16x8 pairs(u8x16 x, Signed w) {
    return (i16x8)_mm_maddubs_epi16((__m128i)w.magnitudes, _mm_sign_epi8((__m128i)x, (__m128i)w.codes));
  }
  using Values = u8x16;
  static LAYERSTREAM_INLINE Values load_values(const std::int8_t* x) { return load_u8(x); }
  template <typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot16(Values x, Weights w) {
    return dot_i16(pairs(x, w), splat_i16(1));
  }
  template <int kMaxCode, typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot32(Values x_first, Values x_second, Weights first, Weights second) {
    if constexpr (kMaxCode <= 64) {  // four products fit into 16 bits
      return dot_i16(pairs(x_first, first) + pairs(x_second, second), splat_i16(1));
    } else {
      return dot16(x_first, first) + dot16(x_second, second);
    }
  }

  // Four rows times four values of x, weights row after row: lanes are rows.
  using RowSums = i32x4;
  static LAYERSTREAM_INLINE RowSums start_rows(i32x4 sums) { return sums; }
  template <typename Weights>
  static LAYERSTREAM_INLINE void add_rows(RowSums& sums, const std::int8_t* x, Weights w) {
    std::int32_t four;
    std::memcpy(&four, x, sizeof four);
    sums += dot_i16(pairs((u8x16)splat_i32(four), w), splat_i16(1));
  }
  static LAYERSTREAM_INLINE i32x4 rows(RowSums sums) { return sums; }
};

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

struct Dot {
  struct Codes {
    i16x8 low;
    i16x8 high;
  };
  using Unsigned = Codes;
  using Signed = Codes;
  static constexpr bool kMinus128Exact = true;

  static LAYERSTREAM_INLINE i16x8 widen(const std::int8_t* p) { return i16x8{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}; }
  static LAYERSTREAM_INLINE Codes prepare_signed(i8x16 codes) {
    std::int8_t bytes[16];
    std::memcpy(bytes, &codes, sizeof bytes);
    return {widen(bytes), widen(bytes + 8)};
  }
  static LAYERSTREAM_INLINE Codes prepare_unsigned(u8x16 codes) { return prepare_signed(as_i8(codes)); }
  using Values = Codes;
  static LAYERSTREAM_INLINE Values load_values(const std::int8_t* x) { return {widen(x), widen(x + 8)}; }
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
    const i16x8 values = {x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3]};
    sums.low += dot_i16(values, w.low);
    sums.high += dot_i16(values, w.high);
  }
  static LAYERSTREAM_INLINE i32x4 rows(const RowSums& sums) {
    return __builtin_shufflevector(sums.low, sums.high, 0, 2, 4, 6) + __builtin_shufflevector(sums.low, sums.high, 1, 3, 5, 7);
  }
};

#endif

using ExactDot = Dot;

}  // namespace native128
}  // namespace layerstream::simd

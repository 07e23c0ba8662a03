#pragma once
// SPDX-License-Identifier: MIT
// The 128-bit vector types and every operation that the compilers' vector extensions express alike for
// wasm and native: loads, stores, splats, shuffles, reinterpretation. What needs an instruction
// by name is in the back ends (simd.h). All loads and stores are unaligned.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// A kernel is fast only if these disappear into it, also at -O1; and an inlined copy cannot be mixed up
// by the linker with one compiled for another back end.
#define LAYERSTREAM_INLINE __attribute__((always_inline)) inline

namespace layerstream::simd {

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef std::int32_t i32x4 __attribute__((vector_size(16)));
typedef std::uint32_t u32x4 __attribute__((vector_size(16)));
typedef std::uint64_t u64x2 __attribute__((vector_size(16)));
typedef std::int16_t i16x8 __attribute__((vector_size(16)));
typedef std::uint16_t u16x8 __attribute__((vector_size(16)));
typedef std::int8_t i8x16 __attribute__((vector_size(16)));
typedef std::uint8_t u8x16 __attribute__((vector_size(16)));

namespace detail {
typedef float f32x2 __attribute__((vector_size(8)));
}  // namespace detail

// Calls body(std::integral_constant 0), ..., body(N - 1) in order, without a loop.
template <std::size_t N, typename Body>
LAYERSTREAM_INLINE void unroll(Body&& body) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (body(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<N>{});
}

// Computes v here: compilers otherwise gather all that one result needs, keep what several results share until the registers
// (sixteen) do not do, and a kernel loses up to half of its speed.
template <typename V>
LAYERSTREAM_INLINE void hold(V& v) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(v));
#elif defined(__wasm_simd128__)
  asm volatile("" : "+r"(v));
#endif
}

// What was loaded before may have changed, for all the compiler knows: it loads again rather than keep values for long, which
// would cost a store more.
LAYERSTREAM_INLINE void forget_loads() { asm volatile("" ::: "memory"); }

// Loads and stores, 16 bytes.
LAYERSTREAM_INLINE f32x4 load_f32(const float* p) {
  f32x4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
LAYERSTREAM_INLINE void store_f32(float* p, f32x4 v) { std::memcpy(p, &v, sizeof v); }
LAYERSTREAM_INLINE i32x4 load_i32(const std::int32_t* p) {
  i32x4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
LAYERSTREAM_INLINE u8x16 load_u8(const void* p) {
  u8x16 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
LAYERSTREAM_INLINE void store_u8(void* p, u8x16 v) { std::memcpy(p, &v, sizeof v); }

// The first `count` (1..3) values; the other lanes are zero and their memory is not touched.
LAYERSTREAM_INLINE f32x4 load_f32_part(const float* p, std::size_t count) {
  f32x4 v = {};
  std::memcpy(&v, p, count * sizeof(float));
  return v;
}
LAYERSTREAM_INLINE void store_f32_part(float* p, f32x4 v, std::size_t count) { std::memcpy(p, &v, count * sizeof(float)); }
LAYERSTREAM_INLINE i32x4 load_i32_part(const std::int32_t* p, std::size_t count) {
  i32x4 v = {};
  std::memcpy(&v, p, count * sizeof(std::int32_t));
  return v;
}

// Splats.
LAYERSTREAM_INLINE f32x4 splat_f32(float x) { return f32x4{x, x, x, x}; }
LAYERSTREAM_INLINE f64x2 splat_f64(double x) { return f64x2{x, x}; }
LAYERSTREAM_INLINE i32x4 splat_i32(std::int32_t x) { return i32x4{x, x, x, x}; }
LAYERSTREAM_INLINE u32x4 splat_u32(std::uint32_t x) { return u32x4{x, x, x, x}; }
LAYERSTREAM_INLINE i16x8 splat_i16(std::int16_t x) { return i16x8{x, x, x, x, x, x, x, x}; }
LAYERSTREAM_INLINE u8x16 splat_u8(std::uint8_t x) { return u8x16{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }

// The same bits as another type.
LAYERSTREAM_INLINE u32x4 as_u32(f32x4 v) { return (u32x4)v; }
LAYERSTREAM_INLINE u32x4 as_u32(i32x4 v) { return (u32x4)v; }
LAYERSTREAM_INLINE i32x4 as_i32(u32x4 v) { return (i32x4)v; }
LAYERSTREAM_INLINE f32x4 as_f32(u32x4 v) { return (f32x4)v; }
LAYERSTREAM_INLINE f32x4 as_f32(i32x4 v) { return (f32x4)v; }
LAYERSTREAM_INLINE i16x8 as_i16(i32x4 v) { return (i16x8)v; }
LAYERSTREAM_INLINE i8x16 as_i8(u8x16 v) { return (i8x16)v; }

// Conversions. i32 -> f32 rounds to nearest even; f32 -> f64 is exact.
LAYERSTREAM_INLINE f32x4 to_f32(i32x4 v) { return __builtin_convertvector(v, f32x4); }
LAYERSTREAM_INLINE f64x2 promote_low(f32x4 v) { return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1), f64x2); }
LAYERSTREAM_INLINE f64x2 promote_high(f32x4 v) { return __builtin_convertvector(__builtin_shufflevector(v, v, 2, 3), f64x2); }
// Bytes shifted right by N bits, zeros shifted in.
template <int N>
LAYERSTREAM_INLINE u8x16 shift_right_u8(u8x16 v) {
  return (u8x16)((u16x8)v >> N) & splat_u8(0xff >> N);
}
template <int N>
LAYERSTREAM_INLINE u8x16 shift_left_u8(u8x16 v) {
  return (u8x16)((u16x8)v << N) & splat_u8(static_cast<std::uint8_t>(0xff << N));
}

// 16 bytes from words, the lowest first.
LAYERSTREAM_INLINE u8x16 join_u64(std::uint64_t low, std::uint64_t high) { return (u8x16)u64x2{low, high}; }
LAYERSTREAM_INLINE u8x16 join_u32(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) { return (u8x16)u32x4{a, b, c, d}; }
// The low, or the high, 8 bytes of a and of b one after the other.
LAYERSTREAM_INLINE u8x16 low_halves(u8x16 a, u8x16 b) { return (u8x16)__builtin_shufflevector((u64x2)a, (u64x2)b, 0, 2); }
LAYERSTREAM_INLINE u8x16 high_halves(u8x16 a, u8x16 b) { return (u8x16)__builtin_shufflevector((u64x2)a, (u64x2)b, 1, 3); }
// The same in turns: a0 b0 a1 b1 ...
LAYERSTREAM_INLINE u8x16 interleave_low_u8(u8x16 a, u8x16 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
LAYERSTREAM_INLINE u8x16 interleave_high_u8(u8x16 a, u8x16 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Byte i is `value` where byte i of v has bit `bit` (0..7) set, else 0.
LAYERSTREAM_INLINE u8x16 where_bit(u8x16 v, std::size_t bit, std::uint8_t value) {
  const u8x16 mask = splat_u8(static_cast<std::uint8_t>(1u << bit));
  return (u8x16)((v & mask) == mask) & splat_u8(value);
}

// Bytes that are -128 become all ones.
LAYERSTREAM_INLINE u8x16 minus_128(u8x16 v) { return (u8x16)(v == splat_u8(0x80)); }

LAYERSTREAM_INLINE bool any_bit(u8x16 v) { return (((u64x2)v)[0] | ((u64x2)v)[1]) != 0; }

// Lanes of yes where the mask is all ones, of no where it is zero.
LAYERSTREAM_INLINE f32x4 select(i32x4 mask, f32x4 yes, f32x4 no) {
  return (f32x4)(((i32x4)yes & mask) | ((i32x4)no & ~mask));
}

template <std::size_t Lane>
LAYERSTREAM_INLINE i32x4 splat_lane(i32x4 v) {
  return __builtin_shufflevector(v, v, Lane, Lane, Lane, Lane);
}

// Rows become columns.
LAYERSTREAM_INLINE void transpose(f32x4& a, f32x4& b, f32x4& c, f32x4& d) {
  const f32x4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const f32x4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const f32x4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const f32x4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// The sums of all lanes of four vectors in two steps: a and b to { a0 + a2, b0 + b2, a1 + a3, b1 + b3 }, c and d likewise, and
// the two to { sum of a, sum of b, sum of c, sum of d }. A lane may be two values of 16 bits.
template <typename V>
LAYERSTREAM_INLINE V pair_sums(V a, V b) {
  return (V)__builtin_shufflevector((i32x4)a, (i32x4)b, 0, 4, 1, 5) + (V)__builtin_shufflevector((i32x4)a, (i32x4)b, 2, 6, 3, 7);
}
template <typename V>
LAYERSTREAM_INLINE V sums_of_pairs(V ab, V cd) {
  return (V)__builtin_shufflevector((i32x4)ab, (i32x4)cd, 0, 1, 4, 5) + (V)__builtin_shufflevector((i32x4)ab, (i32x4)cd, 2, 3, 6, 7);
}
LAYERSTREAM_INLINE i32x4 lane_sums(i32x4 a, i32x4 b, i32x4 c, i32x4 d) { return sums_of_pairs(pair_sums(a, b), pair_sums(c, d)); }

// (v0 + v2) + (v1 + v3): the order every reduction of four lanes takes.
LAYERSTREAM_INLINE float reduce_add(f32x4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// Lanes 0,2,4,6 and 1,3,5,7 of (a, b), and back.
LAYERSTREAM_INLINE f32x4 even_lanes(f32x4 a, f32x4 b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }
LAYERSTREAM_INLINE f32x4 odd_lanes(f32x4 a, f32x4 b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7); }
LAYERSTREAM_INLINE f32x4 interleave_low(f32x4 a, f32x4 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
LAYERSTREAM_INLINE f32x4 interleave_high(f32x4 a, f32x4 b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
LAYERSTREAM_INLINE i32x4 interleave_low_i32(i32x4 a, i32x4 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
LAYERSTREAM_INLINE i32x4 interleave_high_i32(i32x4 a, i32x4 b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }

// The low byte of each lane, in order.
LAYERSTREAM_INLINE u8x16 low_bytes(u32x4 a, u32x4 b, u32x4 c, u32x4 d) {
  const u8x16 ab = __builtin_shufflevector((u8x16)a, (u8x16)b, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
  const u8x16 cd = __builtin_shufflevector((u8x16)c, (u8x16)d, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
  return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

}  // namespace layerstream::simd

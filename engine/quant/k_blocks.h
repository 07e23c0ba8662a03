#pragma once
// SPDX-License-Identifier: MIT
// What the types with quant blocks of 256 values share. A block is 8 runs of 32 values (activation blocks) or 2 tiles, so
// rows always end with a whole tile.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

// 32 codes from the low (Upper = 0) or the high nibbles of 32 bytes.
template <std::size_t Upper>
LAYERSTREAM_INLINE CodePair nibble_run(simd::u8x16 first, simd::u8x16 second) {
  if constexpr (Upper == 0) {
    return {first & simd::splat_u8(15), second & simd::splat_u8(15)};
  } else {
    return {simd::shift_right_u8<4>(first), simd::shift_right_u8<4>(second)};
  }
}

// Bit pairs number Pair (0..3) of 16 bytes.
template <std::size_t Pair>
LAYERSTREAM_INLINE simd::u8x16 bit_pairs(simd::u8x16 bytes) {
  return (simd::u8x16)((simd::u16x8)bytes >> (2 * Pair)) & simd::splat_u8(3);
}

// Byte number Byte of each lane.
template <std::size_t Byte>
LAYERSTREAM_INLINE simd::i32x4 byte_lanes(simd::u32x4 words) {
  return simd::as_i32((words >> (8 * Byte)) & 0xffu);
}

// The 16 bytes at p, p + stride, ... (four rows) as words, lanes = rows: the first word of each row in a, ...
LAYERSTREAM_INLINE void load_transposed(const std::byte* p, std::size_t stride, simd::u32x4& a, simd::u32x4& b, simd::u32x4& c, simd::u32x4& d) {
  simd::f32x4 rows[4];
  simd::unroll<4>([&](auto r) __attribute__((always_inline)) { rows[r] = (simd::f32x4)simd::load_u8(p + r * stride); });
  simd::transpose(rows[0], rows[1], rows[2], rows[3]);
  a = simd::as_u32(rows[0]), b = simd::as_u32(rows[1]), c = simd::as_u32(rows[2]), d = simd::as_u32(rows[3]);
}

// Q4_K and Q5_K begin with half d, half dmin and 12 bytes that hold a 6-bit scale s and a 6-bit minimum n per run: bytes 0..3 s
// of runs 0..3, bytes 4..7 n of runs 0..3, bytes 8..11 the low nibbles of s and, above, of n of runs 4..7, whose upper two bits
// are the upper two bits of bytes 0..3 (s) and 4..7 (n). value = d * s * v - dmin * n.
template <QuantType Type>
struct KBlocksWithMinimum : IntegerType<Type> {
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr bool kHasMinimum = true;

  struct RowScales {
    simd::f32x4 scale;
    simd::f32x4 minimum;
    simd::u32x4 s[2];  // [half of the block]: byte k of each lane is that of run 4 * half + k
    simd::u32x4 n[2];

    template <std::size_t K>
    LAYERSTREAM_INLINE SubScales sub_scales() const {
      const simd::i32x4 lanes = byte_lanes<K % 4>(s[K / 4]);
      return {lanes, lanes};
    }
    // In the low 16 bits of each lane, the others zero.
    template <std::size_t K>
    LAYERSTREAM_INLINE simd::i32x4 minimum_lanes() const {
      return byte_lanes<K % 4>(n[K / 4]);
    }
    template <std::size_t K>
    LAYERSTREAM_INLINE simd::i16x8 sub_minimum() const {
      return simd::as_i16(minimum_lanes<K>() | (minimum_lanes<K>() << 16));
    }
  };

  static LAYERSTREAM_INLINE RowScales row_scales(const std::byte* row, std::size_t row_bytes) {
    simd::u32x4 halves, a, b, c;
    load_transposed(row, row_bytes, halves, a, b, c);
    return {simd::half_to_float4(halves & 0xffffu),
            simd::half_to_float4(halves >> 16),
            {a & 0x3f3f3f3fu, (c & 0x0f0f0f0fu) | ((a >> 2) & 0x30303030u)},
            {b & 0x3f3f3f3fu, ((c >> 4) & 0x0f0f0f0fu) | ((b >> 2) & 0x30303030u)}};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block); }
  static LAYERSTREAM_INLINE simd::f32x4 minimums(Tile tile, std::size_t) { return simd::splat_half4(tile.block + 2); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const std::byte* packed = tile.block + 4;
    const std::uint32_t s = tile.half == 0 ? u32_at(packed) & 0x3f3f3f3fu
                                           : (u32_at(packed + 8) & 0x0f0f0f0fu) | ((u32_at(packed) >> 2) & 0x30303030u);
    const simd::i32x4 lanes = simd::bytes_as_i32(s);
    return {lanes, lanes};
  }
  static LAYERSTREAM_INLINE simd::i16x8 sub_minimums(Tile tile) {
    const std::byte* packed = tile.block + 4;
    const std::uint32_t n = tile.half == 0 ? u32_at(packed + 4) & 0x3f3f3f3fu
                                           : ((u32_at(packed + 8) >> 4) & 0x0f0f0f0fu) | ((u32_at(packed + 4) >> 2) & 0x30303030u);
    const simd::i32x4 lanes = simd::bytes_as_i32(n);
    return simd::as_i16(lanes | (lanes << 16));
  }
  // A scalar block without its v.
  static ScalarBlock scalar_scales(const std::byte* block, std::size_t run) {
    const std::byte* packed = block + 4;
    int s = byte_at(packed, run % 4) & 63;
    int n = byte_at(packed, run % 4 + 4) & 63;
    if (run >= 4) {
      s = (byte_at(packed, run + 4) & 15) | (byte_at(packed, run - 4) >> 6) << 4;
      n = (byte_at(packed, run + 4) >> 4) | (byte_at(packed, run) >> 6) << 4;
    }
    ScalarBlock out;
    out.scale = half_at(block);
    out.minimum = half_at(block + 2);
    out.sub_scale[0] = out.sub_scale[1] = s;
    out.sub_minimum[0] = out.sub_minimum[1] = n;
    return out;
  }
};

}  // namespace layerstream::quant

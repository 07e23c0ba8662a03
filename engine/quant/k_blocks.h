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

// Q4_K and Q5_K begin with half d, half dmin and 12 bytes that hold a 6-bit scale s and a 6-bit minimum n per run: bytes 0..3 s
// of runs 0..3, bytes 4..7 n of runs 0..3, bytes 8..11 the low nibbles of s and, above, of n of runs 4..7, whose upper two bits
// are the upper two bits of bytes 0..3 (s) and 4..7 (n). value = d * s * v - dmin * n.
template <QuantType Type>
struct KBlocksWithMinimum : IntegerType<Type> {
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr bool kHasMinimum = true;

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

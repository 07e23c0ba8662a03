#pragma once
// SPDX-License-Identifier: MIT
// What the types with quant blocks of 256 values share. A block is 8 runs of 32 values (activation blocks) or 2 tiles, so
// rows always end with a whole tile. Q4_K and Q5_K pack a 6-bit scale s and a 6-bit minimum n per run into 12 bytes:
// bytes 0..3 s of runs 0..3, bytes 4..7 n of runs 0..3, bytes 8..11 the low nibbles of s and, above, of n of runs 4..7, whose
// upper two bits are the upper two bits of bytes 0..3 (s) and 4..7 (n).

#include "quant/bytes.h"
#include "quant/quant_traits.h"

namespace layerstream::quant {

inline constexpr std::size_t kTilesPerKBlock = 2;
inline constexpr std::size_t kRunsPerKBlock = 8;

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

// s of the four runs of a tile; half: which tile of the block.
LAYERSTREAM_INLINE SubScales k_sub_scales(const std::byte* packed, std::size_t half) {
  const std::uint32_t s = half == 0 ? u32_at(packed) & 0x3f3f3f3fu
                                    : (u32_at(packed + 8) & 0x0f0f0f0fu) | ((u32_at(packed) >> 2) & 0x30303030u);
  const simd::i32x4 lanes = simd::bytes_as_i32(s);
  return {lanes, lanes};
}

// n of the four runs of a tile, each twice.
LAYERSTREAM_INLINE simd::i16x8 k_sub_minimums(const std::byte* packed, std::size_t half) {
  const std::uint32_t n = half == 0 ? u32_at(packed + 4) & 0x3f3f3f3fu
                                    : ((u32_at(packed + 8) >> 4) & 0x0f0f0f0fu) | ((u32_at(packed + 4) >> 2) & 0x30303030u);
  const simd::i32x4 lanes = simd::bytes_as_i32(n);
  return simd::as_i16(lanes | (lanes << 16));
}

// s and n of one run (0..7) into a scalar block.
inline void set_k_scales(const std::byte* packed, std::size_t run, ScalarBlock& out) {
  int s = byte_at(packed, run % 4) & 63;
  int n = byte_at(packed, run % 4 + 4) & 63;
  if (run >= 4) {
    s = (byte_at(packed, run + 4) & 15) | (byte_at(packed, run - 4) >> 6) << 4;
    n = (byte_at(packed, run + 4) >> 4) | (byte_at(packed, run) >> 6) << 4;
  }
  out.sub_scale[0] = out.sub_scale[1] = s;
  out.sub_minimum[0] = out.sub_minimum[1] = n;
}

}  // namespace layerstream::quant

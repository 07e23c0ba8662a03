#pragma once
// SPDX-License-Identifier: MIT
// Q2_K: 256 values in 84 bytes: 16 bytes of scale s (low nibble) and minimum n (high nibble), one per 16 values; 64 bytes of
// codes: per tile 32 bytes, bit pair r of them is run r; half d, half dmin. value = d * s * code - dmin * n.

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Q2K : IntegerType<QuantType::q2_k> {
  static constexpr int kMaxCode = 3;
  static constexpr bool kWholeBlocks = true;
  static constexpr SubScale kSubScale = SubScale::per16;
  static constexpr bool kHasMinimum = true;

  struct Block {
    std::uint8_t scales[16];
    std::uint8_t codes[64];
    std::uint8_t d[2];
    std::uint8_t dmin[2];
  };
  static_assert(sizeof(Block) == 84 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = tile.block + offsetof(Block, codes) + 32 * tile.half;
    return {bit_pairs<K>(simd::load_u8(bytes)), bit_pairs<K>(simd::load_u8(bytes + 16))};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const simd::i32x4 both = simd::as_i32(simd::load_u16_as_u32(tile.block + offsetof(Block, scales) + 8 * tile.half));
    return {both & 15, (both >> 8) & 15};
  }
  static LAYERSTREAM_INLINE simd::f32x4 minimums(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, dmin)); }
  static LAYERSTREAM_INLINE simd::i16x8 sub_minimums(Tile tile) {
    const simd::i32x4 both = simd::as_i32(simd::load_u16_as_u32(tile.block + offsetof(Block, scales) + 8 * tile.half));
    return simd::as_i16(((both >> 4) & 15) | ((both >> 12) << 16));
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block + 80);
    out.minimum = half_at(block + 82);
    for (std::size_t i = 0; i < 2; ++i) {
      out.sub_scale[i] = byte_at(block, 2 * run + i) & 15;
      out.sub_minimum[i] = byte_at(block, 2 * run + i) >> 4;
    }
    for (std::size_t i = 0; i < 32; ++i) {
      out.v[i] = static_cast<std::int16_t>((byte_at(block, 16 + run / 4 * 32 + i) >> (run % 4 * 2)) & 3);
    }
    return out;
  }
};

}  // namespace layerstream::quant

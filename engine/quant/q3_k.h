#pragma once
// SPDX-License-Identifier: MIT
// Q3_K: 256 values in 110 bytes: 32 bytes of third bits (bit r of byte i: value i of run r), 64 bytes of bit pairs as the codes
// of Q2_K, 12 bytes of 6-bit scales t (one per 16 values), half d. value = d * (t - 32) * ((pair | bit << 2) - 4).
// Scale g (0..15): low four bits in bytes 0..7 (low nibbles g < 8, high nibbles g >= 8), bits 4 and 5 in bit pair g / 4 of byte
// 8 + g % 4.

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Q3K : IntegerType<QuantType::q3_k> {
  static constexpr int kOffset = 4;
  static constexpr int kMaxCode = 7;
  static constexpr SubScale kSubScale = SubScale::per16;

  struct Block {
    std::uint8_t third_bits[32];
    std::uint8_t pairs[64];
    std::uint8_t scales[12];
    std::uint8_t d[2];
  };
  static_assert(sizeof(Block) == 110 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* pairs = tile.block + offsetof(Block, pairs) + 32 * tile.half;
    const std::byte* bits = tile.block + offsetof(Block, third_bits);
    const std::size_t run = kTileBlocks * tile.half + K;
    return {bit_pairs<K>(simd::load_u8(pairs)) | simd::where_bit(simd::load_u8(bits), run, 4),
            bit_pairs<K>(simd::load_u8(pairs + 16)) | simd::where_bit(simd::load_u8(bits + 16), run, 4)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const std::byte* packed = tile.block + offsetof(Block, scales);
    const std::uint32_t upper = u32_at(packed + 8) >> (4 * tile.half);
    // Four scales each: runs 0 and 1 of the tile, runs 2 and 3.
    const std::uint32_t t[2] = {((u32_at(packed) >> (4 * tile.half)) & 0x0f0f0f0fu) | ((upper & 0x03030303u) << 4),
                                ((u32_at(packed + 4) >> (4 * tile.half)) & 0x0f0f0f0fu) | (((upper >> 2) & 0x03030303u) << 4)};
    const simd::i32x4 both = simd::as_i32(simd::load_u16_as_u32(t));
    return {(both & 63) - 32, (both >> 8) - 32};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block + 108);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t g = 2 * run + i;
      const int low = g < 8 ? byte_at(block, 96 + g) & 15 : byte_at(block, 96 + g - 8) >> 4;
      const int upper = (byte_at(block, 104 + g % 4) >> (g / 4 * 2)) & 3;
      out.sub_scale[i] = (low | upper << 4) - 32;
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const int pair = (byte_at(block, 32 + run / 4 * 32 + i) >> (run % 4 * 2)) & 3;
      const int third = (byte_at(block, i) >> run) & 1;
      out.v[i] = static_cast<std::int16_t>((pair | third << 2) - 4);
    }
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// IQ1_S: 256 values in 50 bytes: half d; per 8 values a byte with the low index bits; 16 bits per run: the upper three index
// bits of its four grid rows, t in bits 12..14, the shift in bit 15 (set: down). value = d * (2t + 1) * (grid +- 1/8).

#include "quant/iq1_codes.h"

namespace layerstream::quant {

struct Iq1S : IntegerType<QuantType::iq1_s> {
  static constexpr int kOffset = kIq1Offset;
  static constexpr int kMaxCode = kIq1MaxCode;
  static constexpr SubScale kSubScale = SubScale::per32;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t low_bits[32];
    std::uint8_t words[16];
  };
  static_assert(sizeof(Block) == 50 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::size_t run = kTileBlocks * tile.half + K;
    const std::byte* low = tile.block + offsetof(Block, low_bits) + 4 * run;
    const std::uint32_t word = u16_at(tile.block + offsetof(Block, words) + 2 * run);
    const simd::u8x16 up = simd::splat_u8(static_cast<std::uint8_t>((~word >> 14) & 2));
    return {simd::join_u64(kIq1Down[byte_at(low, 0) | (word << 8 & 0x700)], kIq1Down[byte_at(low, 1) | (word << 5 & 0x700)]) + up,
            simd::join_u64(kIq1Down[byte_at(low, 2) | (word << 2 & 0x700)], kIq1Down[byte_at(low, 3) | (word >> 1 & 0x700)]) + up};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block) * 0.125f; }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const simd::u32x4 words = simd::load_u16_as_u32(tile.block + offsetof(Block, words) + 2 * kTileBlocks * tile.half);
    const simd::i32x4 s = simd::as_i32(((words >> 11) & 14) + 1);
    return {s, s};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    const unsigned word = u16_at(block + 34 + 2 * run);
    ScalarBlock out;
    out.scale = half_at(block) / 8.0f;
    out.sub_scale[0] = out.sub_scale[1] = static_cast<int>(2 * ((word >> 12) & 7) + 1);
    for (std::size_t i = 0; i < 32; ++i) {
      const unsigned index = byte_at(block, 2 + 4 * run + i / 8) | ((word >> (i / 8 * 3)) & 7) << 8;
      out.v[i] = static_cast<std::int16_t>(iq1_value(index, i % 8, word >> 15 != 0));
    }
    return out;
  }
};

}  // namespace layerstream::quant

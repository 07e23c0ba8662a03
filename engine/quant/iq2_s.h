#pragma once
// SPDX-License-Identifier: MIT
// IQ2_S: 256 values in 82 bytes: half d; per 8 values a byte with the low index bits and a byte of signs; per run a byte with
// the upper two index bits of its four grid rows; a nibble t per 16 values. value = d / 8 * (2t + 1) * (+-grid).

#include "quant/iq_codes.h"

namespace layerstream::quant {

struct Iq2S : IntegerType<QuantType::iq2_s> {
  static constexpr int kOffset = 43;
  static constexpr int kMaxCode = 86;
  static constexpr bool kWholeBlocks = true;
  static constexpr SubScale kSubScale = SubScale::per16;
  static constexpr auto kGrid = grid_bytes<std::uint64_t>(kIq2SGrid);

  struct Block {
    std::uint8_t d[2];
    std::uint8_t low_bits[32];
    std::uint8_t signs[32];
    std::uint8_t upper_bits[8];
    std::uint8_t scales[8];
  };
  static_assert(sizeof(Block) == 82 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::size_t run = kTileBlocks * tile.half + K;
    const std::byte* low = tile.block + offsetof(Block, low_bits) + 4 * run;
    const std::uint32_t signs = u32_at(tile.block + offsetof(Block, signs) + 4 * run);
    const std::uint32_t upper = byte_at(tile.block, offsetof(Block, upper_bits) + run);
    return {signed_codes<kOffset>(simd::join_u64(kGrid[byte_at(low, 0) | (upper << 8 & 0x300)], kGrid[byte_at(low, 1) | (upper << 6 & 0x300)]), signs),
            signed_codes<kOffset>(simd::join_u64(kGrid[byte_at(low, 2) | (upper << 4 & 0x300)], kGrid[byte_at(low, 3) | (upper << 2 & 0x300)]),
                                  signs >> 16)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block) * 0.125f; }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    return nibble_sub_scales(tile.block + offsetof(Block, scales) + kTileBlocks * tile.half);
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block) / 8.0f;
    set_nibble_sub_scales(byte_at(block, 74 + run), out);
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t k = 4 * run + i / 8;
      const int index = byte_at(block, 2 + k) | ((byte_at(block, 66 + run) >> (i / 8 * 2)) & 3) << 8;
      const bool negative = ((byte_at(block, 34 + k) >> (i % 8)) & 1) != 0;
      const int magnitude = grid_value(kIq2SGrid, static_cast<std::size_t>(index), i % 8);
      out.v[i] = static_cast<std::int16_t>(negative ? -magnitude : magnitude);
    }
    return out;
  }
};

}  // namespace layerstream::quant

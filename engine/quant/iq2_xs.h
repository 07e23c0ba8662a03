#pragma once
// SPDX-License-Identifier: MIT
// IQ2_XS: 256 values in 74 bytes: half d, 16 bits per 8 values (grid index in the low nine, sign index in the upper seven), a
// nibble t per 16 values. value = d / 8 * (2t + 1) * (+-grid).

#include "quant/iq_codes.h"

namespace layerstream::quant {

struct Iq2Xs : IntegerType<QuantType::iq2_xs> {
  static constexpr int kOffset = 43;
  static constexpr int kMaxCode = 86;
  static constexpr SubScale kSubScale = SubScale::per16;
  static constexpr auto kGrid = grid_bytes<std::uint64_t>(kIq2XsGrid);

  struct Block {
    std::uint8_t d[2];
    std::uint8_t words[64];
    std::uint8_t scales[8];
  };
  static_assert(sizeof(Block) == 74 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* words = tile.block + offsetof(Block, words) + 8 * (kTileBlocks * tile.half + K);
    return {sixteen_codes(u32_at(words)), sixteen_codes(u32_at(words + 4))};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block) * 0.125f; }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    return nibble_sub_scales(tile.block + offsetof(Block, scales) + kTileBlocks * tile.half);
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block) / 8.0f;
    set_nibble_sub_scales(byte_at(block, 66 + run), out);
    for (std::size_t i = 0; i < 32; ++i) {
      const unsigned word = u16_at(block + 2 + 2 * (4 * run + i / 8));
      out.v[i] = static_cast<std::int16_t>(sign_at(word >> 9, i % 8) * grid_value(kIq2XsGrid, word & 511, i % 8));
    }
    return out;
  }

 private:
  static LAYERSTREAM_INLINE simd::u8x16 sixteen_codes(std::uint32_t two_words) {
    const std::uint32_t signs = complete_signs(((two_words >> 9) & 0x7fu) | ((two_words >> 25) << 8));
    return signed_codes<kOffset>(simd::join_u64(kGrid[two_words & 511], kGrid[(two_words >> 16) & 511]), signs);
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// IQ3_XXS: 256 values in 98 bytes: half d, a grid index per 4 values, 32 bits per run with a sign index per 8 values in the low
// 28 bits and t in the upper four. value = d / 4 * (2t + 1) * (+-grid).

#include "quant/iq_codes.h"

namespace layerstream::quant {

struct Iq3Xxs : IntegerType<QuantType::iq3_xxs> {
  static constexpr int kOffset = 62;
  static constexpr int kMaxCode = 124;
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr auto kGrid = grid_bytes<std::uint32_t>(kIq3XxsGrid);

  struct Block {
    std::uint8_t d[2];
    std::uint8_t indices[64];
    std::uint8_t words[32];
  };
  static_assert(sizeof(Block) == 98 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::size_t run = kTileBlocks * tile.half + K;
    const std::byte* indices = tile.block + offsetof(Block, indices) + 8 * run;
    const std::uint32_t signs = unpack_signs(u32_at(tile.block + offsetof(Block, words) + 4 * run));
    return {signed_codes<kOffset>(four_rows(indices), signs), signed_codes<kOffset>(four_rows(indices + 4), signs >> 16)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block) * 0.25f; }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const simd::u32x4 words = (simd::u32x4)simd::load_u8(tile.block + offsetof(Block, words) + 4 * kTileBlocks * tile.half);
    const simd::i32x4 s = simd::as_i32(((words >> 28) << 1) + 1);
    return {s, s};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    const std::uint32_t word = u32_at(block + 66 + 4 * run);
    ScalarBlock out;
    out.scale = half_at(block) / 4.0f;
    out.sub_scale[0] = out.sub_scale[1] = static_cast<int>(2 * (word >> 28) + 1);
    for (std::size_t i = 0; i < 32; ++i) {
      const int sign = sign_at((word >> (i / 8 * 7)) & 0x7f, i % 8);
      out.v[i] = static_cast<std::int16_t>(sign * grid_value(kIq3XxsGrid, byte_at(block, 2 + 8 * run + i / 4), i % 4));
    }
    return out;
  }

 private:
  static LAYERSTREAM_INLINE simd::u8x16 four_rows(const std::byte* indices) {
    return simd::join_u32(kGrid[byte_at(indices, 0)], kGrid[byte_at(indices, 1)], kGrid[byte_at(indices, 2)], kGrid[byte_at(indices, 3)]);
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// IQ2_XXS: 256 values in 66 bytes: half d, then 8 bytes per run: four grid indices, and 32 bits with a sign index per 8 values
// in the low 28 bits and t in the upper four. value = d / 8 * (2t + 1) * (+-grid).

#include "quant/iq_codes.h"

namespace layerstream::quant {

struct Iq2Xxs : IntegerType<QuantType::iq2_xxs> {
  static constexpr int kOffset = 43;
  static constexpr int kMaxCode = 86;
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr auto kGrid = grid_bytes<std::uint64_t>(kIq2XxsGrid);

  struct Block {
    std::uint8_t d[2];
    std::uint8_t runs[8][8];
  };
  static_assert(sizeof(Block) == 66 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* run = tile.block + offsetof(Block, runs) + 8 * (kTileBlocks * tile.half + K);
    const std::uint32_t signs = unpack_signs(u32_at(run + 4));
    return {signed_codes<kOffset>(simd::join_u64(kGrid[byte_at(run, 0)], kGrid[byte_at(run, 1)]), signs),
            signed_codes<kOffset>(simd::join_u64(kGrid[byte_at(run, 2)], kGrid[byte_at(run, 3)]), signs >> 16)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block) * 0.125f; }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const std::byte* run = tile.block + offsetof(Block, runs) + 8 * kTileBlocks * tile.half;
    const simd::u32x4 words = {u32_at(run + 4), u32_at(run + 12), u32_at(run + 20), u32_at(run + 28)};
    const simd::i32x4 s = simd::as_i32(((words >> 28) << 1) + 1);
    return {s, s};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    const std::byte* record = block + 2 + 8 * run;
    const std::uint32_t word = u32_at(record + 4);
    ScalarBlock out;
    out.scale = half_at(block) / 8.0f;
    out.sub_scale[0] = out.sub_scale[1] = static_cast<int>(2 * (word >> 28) + 1);
    for (std::size_t i = 0; i < 32; ++i) {
      const int sign = sign_at((word >> (i / 8 * 7)) & 0x7f, i % 8);
      out.v[i] = static_cast<std::int16_t>(sign * grid_value(kIq2XxsGrid, byte_at(record, i / 8), i % 8));
    }
    return out;
  }
};

}  // namespace layerstream::quant

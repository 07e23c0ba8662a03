#pragma once
// SPDX-License-Identifier: MIT
// IQ3_S: 256 values in 110 bytes: half d; per 4 values a byte with the low index bits; per run a byte with the ninth index bits
// of its eight grid rows; 32 bytes of signs; a nibble t per run. value = d * (2t + 1) * (+-grid).

#include "quant/iq_codes.h"

namespace layerstream::quant {

struct Iq3S : IntegerType<QuantType::iq3_s> {
  static constexpr int kOffset = 15;
  static constexpr int kMaxCode = 30;
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr auto kGrid = grid_bytes<std::uint32_t>(kIq3SGrid);

  struct Block {
    std::uint8_t d[2];
    std::uint8_t low_bits[64];
    std::uint8_t ninth_bits[8];
    std::uint8_t signs[32];
    std::uint8_t scales[4];
  };
  static_assert(sizeof(Block) == 110 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::size_t run = kTileBlocks * tile.half + K;
    const std::byte* low = tile.block + offsetof(Block, low_bits) + 8 * run;
    const std::uint32_t ninth = byte_at(tile.block, offsetof(Block, ninth_bits) + run);
    const std::uint32_t signs = u32_at(tile.block + offsetof(Block, signs) + 4 * run);
    return {signed_codes<kOffset>(four_rows(low, ninth), signs), signed_codes<kOffset>(four_rows(low + 4, ninth >> 4), signs >> 16)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const std::uint32_t t = u16_at(tile.block + offsetof(Block, scales) + 2 * tile.half);
    const simd::i32x4 s = (simd::as_i32(simd::u32x4{t & 15, (t >> 4) & 15, (t >> 8) & 15, t >> 12}) << 1) + 1;
    return {s, s};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block);
    out.sub_scale[0] = out.sub_scale[1] = 2 * ((byte_at(block, 106 + run / 2) >> (run % 2 * 4)) & 15) + 1;
    for (std::size_t i = 0; i < 32; ++i) {
      const int index = byte_at(block, 2 + 8 * run + i / 4) | ((byte_at(block, 66 + run) >> (i / 4)) & 1) << 8;
      const bool negative = ((byte_at(block, 74 + 4 * run + i / 8) >> (i % 8)) & 1) != 0;
      const int magnitude = grid_value(kIq3SGrid, static_cast<std::size_t>(index), i % 4);
      out.v[i] = static_cast<std::int16_t>(negative ? -magnitude : magnitude);
    }
    return out;
  }

 private:
  static LAYERSTREAM_INLINE simd::u8x16 four_rows(const std::byte* low, std::uint32_t ninth) {
    return simd::join_u32(kGrid[byte_at(low, 0) | (ninth << 8 & 256)], kGrid[byte_at(low, 1) | (ninth << 7 & 256)],
                          kGrid[byte_at(low, 2) | (ninth << 6 & 256)], kGrid[byte_at(low, 3) | (ninth << 5 & 256)]);
  }
};

}  // namespace layerstream::quant

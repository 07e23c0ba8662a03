#pragma once
// SPDX-License-Identifier: MIT
// TQ2_0: 256 values in 66 bytes: 64 bytes of codes: per tile 32 bytes, bit pair r of them is run r; half d.
// value = d * (code - 1). Code 3 (2d) is legal, writers do not use it.

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Tq2_0 : IntegerType<QuantType::tq2_0> {
  static constexpr int kOffset = 1;
  static constexpr int kMaxCode = 3;

  struct Block {
    std::uint8_t codes[64];
    std::uint8_t d[2];
  };
  static_assert(sizeof(Block) == 66 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = tile.block + offsetof(Block, codes) + 32 * tile.half;
    return {bit_pairs<K>(simd::load_u8(bytes)), bit_pairs<K>(simd::load_u8(bytes + 16))};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block + 64);
    for (std::size_t i = 0; i < 32; ++i) {
      out.v[i] = static_cast<std::int16_t>(((byte_at(block, run / 4 * 32 + i) >> (run % 4 * 2)) & 3) - 1);
    }
    return out;
  }
};

}  // namespace layerstream::quant

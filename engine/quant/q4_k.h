#pragma once
// SPDX-License-Identifier: MIT
// Q4_K: 256 values in 144 bytes: half d, half dmin, 12 bytes of scales and minimums (k_blocks.h), 128 bytes of nibbles: each
// 32 bytes hold run 2i in the low nibbles and run 2i + 1 in the high ones. value = d * s * nibble - dmin * n.

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Q4K : KBlocksWithMinimum<QuantType::q4_k> {
  static constexpr int kMaxCode = 15;
  static constexpr bool kWholeBlocks = true;
  static constexpr bool kLanesAreRows = true;  // not Q5_K, where codes take more instructions and registers

  struct Block {
    std::uint8_t d[2];
    std::uint8_t dmin[2];
    std::uint8_t scales[12];
    std::uint8_t nibbles[128];
  };
  static_assert(sizeof(Block) == 144 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = tile.block + offsetof(Block, nibbles) + 64 * tile.half + 32 * (K / 2);
    return nibble_run<K % 2>(simd::load_u8(bytes), simd::load_u8(bytes + 16));
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out = scalar_scales(block, run);
    for (std::size_t i = 0; i < 32; ++i) {
      const int byte = byte_at(block, 16 + run / 2 * 32 + i);
      out.v[i] = static_cast<std::int16_t>(run % 2 == 0 ? byte & 15 : byte >> 4);
    }
    return out;
  }
};

}  // namespace layerstream::quant

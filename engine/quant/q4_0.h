#pragma once
// SPDX-License-Identifier: MIT
// Q4_0: 32 values in 18 bytes: half d, then 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
// value = d * (nibble - 8).

#include "quant/blocks_32.h"

namespace layerstream::quant {

struct Q4_0 : Blocks32<QuantType::q4_0> {
  static constexpr int kOffset = 8;
  static constexpr int kMaxCode = 15;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 18 && sizeof(Block) == kBlockBytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    return nibble_codes(block_at(tile, K) + offsetof(Block, nibbles));
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t) {
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = static_cast<std::int16_t>(nibble_at(block + 2, i) - 8);
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// Q5_0: 32 values in 22 bytes: half d, 32 fifth bits in value order, then 16 bytes of nibbles: low nibbles are values
// 0..15, high ones 16..31. value = d * ((nibble | bit << 4) - 16).

#include "quant/blocks_32.h"

namespace layerstream::quant {

struct Q5_0 : Blocks32<QuantType::q5_0> {
  static constexpr int kOffset = 16;
  static constexpr int kMaxCode = 31;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t fifth_bits[4];
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 22 && sizeof(Block) == kBlockBytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    return five_bit_codes(block_at(tile, K) + offsetof(Block, fifth_bits));
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t) {
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = static_cast<std::int16_t>(five_bit_code_at(block + 2, i) - 16);
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// Q8_0: 32 values in 34 bytes: half d, then 32 signed bytes v. value = d * v. v may be any byte, -128 included.

#include "quant/blocks_32.h"

namespace layerstream::quant {

struct Q8_0 : Blocks32<QuantType::q8_0> {
  static constexpr Codes kCodes = Codes::signed8;
  static constexpr int kMaxCode = 128;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t codes[32];
  };
  static_assert(sizeof(Block) == 34 && sizeof(Block) == kBlockBytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = block_at(tile, K) + offsetof(Block, codes);
    return {simd::load_u8(bytes), simd::load_u8(bytes + 16)};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t) {
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = static_cast<std::int8_t>(byte_at(block, 2 + i));
    return out;
  }
};

}  // namespace layerstream::quant

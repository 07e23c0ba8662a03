#pragma once
// SPDX-License-Identifier: MIT
// IQ4_NL: 32 values in 18 bytes: half d, then 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
// value = d * kIq4Values[nibble].

#include "quant/blocks_32.h"
#include "quant/iq4_values.h"

namespace layerstream::quant {

struct Iq4Nl : Blocks32<QuantType::iq4_nl> {
  static constexpr Codes kCodes = Codes::signed8;
  static constexpr int kMaxCode = 127;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 18 && sizeof(Block) == kBlockBytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    return nibble_codes(block_at(tile, K) + offsetof(Block, nibbles), simd::load_u8(kIq4Values));
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t) {
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = kIq4Values[nibble_at(block + 2, i)];
    return out;
  }
};

}  // namespace layerstream::quant

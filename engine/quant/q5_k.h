#pragma once
// SPDX-License-Identifier: MIT
// Q5_K: 256 values in 176 bytes: half d, half dmin, 12 bytes of scales and minimums (k_blocks.h), 32 bytes of fifth bits (bit r
// of byte i: value i of run r), 128 bytes of nibbles as in Q4_K. value = d * s * (nibble | bit << 4) - dmin * n.

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Q5K : KBlocksWithMinimum<QuantType::q5_k> {
  static constexpr int kMaxCode = 31;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t dmin[2];
    std::uint8_t scales[12];
    std::uint8_t fifth_bits[32];
    std::uint8_t nibbles[128];
  };
  static_assert(sizeof(Block) == 176 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = tile.block + offsetof(Block, nibbles) + 64 * tile.half + 32 * (K / 2);
    const std::byte* bits = tile.block + offsetof(Block, fifth_bits);
    const std::size_t run = kTileBlocks * tile.half + K;
    const CodePair low = nibble_run<K % 2>(simd::load_u8(bytes), simd::load_u8(bytes + 16));
    return {low.first | simd::where_bit(simd::load_u8(bits), run, 16), low.second | simd::where_bit(simd::load_u8(bits + 16), run, 16)};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out = scalar_scales(block, run);
    for (std::size_t i = 0; i < 32; ++i) {
      const int byte = byte_at(block, 48 + run / 2 * 32 + i);
      const int fifth = (byte_at(block, 16 + i) >> run) & 1;
      out.v[i] = static_cast<std::int16_t>((run % 2 == 0 ? byte & 15 : byte >> 4) | fifth << 4);
    }
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// IQ4_XS: 256 values in 136 bytes: half d, 16 bits with the upper two bits of each run's scale t, 4 bytes with its low four bits,
// 128 bytes of nibbles: 16 per run, the order of IQ4_NL. value = d * (t - 32) * kIq4Values[nibble].

#include "quant/blocks_32.h"
#include "quant/iq4_values.h"

namespace layerstream::quant {

struct Iq4Xs : IntegerType<QuantType::iq4_xs> {
  static constexpr Codes kCodes = Codes::signed8;
  static constexpr int kMaxCode = 127;
  static constexpr bool kWholeBlocks = true;
  static constexpr SubScale kSubScale = SubScale::per32;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t upper_bits[2];
    std::uint8_t low_bits[4];
    std::uint8_t nibbles[128];
  };
  static_assert(sizeof(Block) == 136 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* nibbles = tile.block + offsetof(Block, nibbles) + 16 * (kTileBlocks * tile.half + K);
    return nibble_codes(nibbles, simd::load_u8(kIq4Values));
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const std::uint32_t low = u16_at(tile.block + offsetof(Block, low_bits) + 2 * tile.half);
    const std::uint32_t upper = u16_at(tile.block + offsetof(Block, upper_bits)) >> (8 * tile.half);
    const simd::u32x4 t = {(low & 15) | ((upper << 4) & 48), ((low >> 4) & 15) | ((upper << 2) & 48), ((low >> 8) & 15) | (upper & 48),
                           (low >> 12) | ((upper >> 2) & 48)};
    const simd::i32x4 s = simd::as_i32(t) - 32;
    return {s, s};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    const int low = (byte_at(block, 4 + run / 2) >> (run % 2 * 4)) & 15;
    const int upper = (u16_at(block + 2) >> (2 * run)) & 3;
    ScalarBlock out;
    out.scale = half_at(block);
    out.sub_scale[0] = out.sub_scale[1] = (low | upper << 4) - 32;
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = kIq4Values[nibble_at(block + 8 + 16 * run, i)];
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// IQ1_M: 256 values in 56 bytes: per 8 values a byte with the low index bits and a nibble with the upper three and the shift
// (bit 3 set: down); four 16-bit words with t of four groups of 16 values, three bits each, and on top four bits of the half d,
// the lowest in the first word. value = d * (2t + 1) * (grid +- 1/8).

#include "quant/iq1_codes.h"

namespace layerstream::quant {

struct Iq1M : IntegerType<QuantType::iq1_m> {
  static constexpr int kOffset = kIq1Offset;
  static constexpr int kMaxCode = kIq1MaxCode;
  static constexpr SubScale kSubScale = SubScale::per16;

  struct Block {
    std::uint8_t low_bits[32];
    std::uint8_t upper_bits[16];
    std::uint8_t words[8];
  };
  static_assert(sizeof(Block) == 56 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::size_t run = kTileBlocks * tile.half + K;
    const std::byte* low = tile.block + offsetof(Block, low_bits) + 4 * run;
    const std::uint32_t upper = u16_at(tile.block + offsetof(Block, upper_bits) + 2 * run);
    return {simd::join_u64(eight_codes(byte_at(low, 0), upper), eight_codes(byte_at(low, 1), upper >> 4)),
            simd::join_u64(eight_codes(byte_at(low, 2), upper >> 8), eight_codes(byte_at(low, 3), upper >> 12))};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) {
    return simd::half_to_float4(simd::splat_u32(half_bits(tile.block))) * 0.125f;
  }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const std::uint32_t words = u32_at(tile.block + offsetof(Block, words) + 4 * tile.half);
    const simd::u32x4 t = {words, words >> 6, words >> 16, words >> 22};
    return {simd::as_i32(((t & 7) << 1) + 1), simd::as_i32(((t >> 2) & 14) + 1)};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_to_float(half_bits(block)) / 8.0f;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t g = 2 * run + i;
      out.sub_scale[i] = 2 * ((u16_at(block + 48 + g / 4 * 2) >> (g % 4 * 3)) & 7) + 1;
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t k = 4 * run + i / 8;
      const int nibble = (byte_at(block, 32 + k / 2) >> (k % 2 * 4)) & 15;
      const int index = byte_at(block, k) | (nibble & 7) << 8;
      out.v[i] = static_cast<std::int16_t>(iq1_value(static_cast<std::size_t>(index), i % 8, nibble >= 8));
    }
    return out;
  }

 private:
  static LAYERSTREAM_INLINE std::uint64_t eight_codes(std::uint32_t low, std::uint32_t nibble) {
    return kIq1Down[low | (nibble << 8 & 0x700)] + (~nibble >> 3 & 1) * kIq1Up;  // a branch would be mispredicted half the time
  }
  static LAYERSTREAM_INLINE std::uint16_t half_bits(const std::byte* block) {
    const std::uint64_t words = u64_at(block + offsetof(Block, words));
    return static_cast<std::uint16_t>((words >> 12 & 0xf) | (words >> 24 & 0xf0) | (words >> 36 & 0xf00) | (words >> 48 & 0xf000));
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// Q5_0: 32 values in 22 bytes: half d, 32 fifth bits in value order, then 16 bytes of nibbles: low nibbles are values
// 0..15, high ones 16..31. value = d * ((nibble | bit << 4) - 16).

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q5_0 {
  static constexpr QuantType kType = QuantType::q5_0;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::offset7;
  static constexpr int kOffset = 16;
  static constexpr int kMaxCode = 31;
  static constexpr SubScale kSubScale = SubScale::none;
  static constexpr bool kHasMinimum = false;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t fifth_bits[4];
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 22 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(const std::byte* row, std::size_t tile, std::integral_constant<std::size_t, K>) {
    const std::byte* block = row + (tile * kTileBlocks + K) * sizeof(Block);
    const simd::u8x16 bytes = simd::load_u8(block + offsetof(Block, nibbles));
    const simd::u8x16 first = simd::spread_bits(u16_at(block + offsetof(Block, fifth_bits)), 16);
    const simd::u8x16 second = simd::spread_bits(u16_at(block + offsetof(Block, fifth_bits) + 2), 16);
    return {(bytes & simd::splat_u8(15)) | first, simd::shift_right_u8<4>(bytes) | second};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(const std::byte* row, std::size_t tile, std::size_t count) {
    return simd::gather_half4(row + tile * kTileBlocks * sizeof(Block), sizeof(Block), count);
  }
  static ScalarBlock scalar_block(const std::byte* row, std::size_t index) {
    const std::byte* block = row + index * sizeof(Block);
    const std::uint32_t fifth_bits = u32_at(block + 2);
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) {
      const int code = nibble_at(block + 6, i) | static_cast<int>((fifth_bits >> i) & 1) << 4;
      out.v[i] = static_cast<std::int16_t>(code - 16);
    }
    return out;
  }
};

}  // namespace layerstream::quant

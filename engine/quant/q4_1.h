#pragma once
// SPDX-License-Identifier: MIT
// Q4_1: 32 values in 20 bytes: half d, half m, then 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
// value = d * nibble + m.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q4_1 {
  static constexpr QuantType kType = QuantType::q4_1;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::offset7;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 15;
  static constexpr SubScale kSubScale = SubScale::none;
  static constexpr bool kHasMinimum = true;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t m[2];
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 20 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(const std::byte* row, std::size_t tile, std::integral_constant<std::size_t, K>) {
    const simd::u8x16 bytes = simd::load_u8(row + (tile * kTileBlocks + K) * sizeof(Block) + offsetof(Block, nibbles));
    return {bytes & simd::splat_u8(15), simd::shift_right_u8<4>(bytes)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(const std::byte* row, std::size_t tile, std::size_t count) {
    return simd::gather_half4(row + tile * kTileBlocks * sizeof(Block), sizeof(Block), count);
  }
  // M = -m with n = 1.
  static LAYERSTREAM_INLINE simd::f32x4 minimums(const std::byte* row, std::size_t tile, std::size_t count) {
    return -simd::gather_half4(row + tile * kTileBlocks * sizeof(Block) + offsetof(Block, m), sizeof(Block), count);
  }
  static LAYERSTREAM_INLINE simd::i16x8 sub_minimums(const std::byte*, std::size_t) { return simd::splat_i16(1); }
  static ScalarBlock scalar_block(const std::byte* row, std::size_t index) {
    const std::byte* block = row + index * sizeof(Block);
    ScalarBlock out;
    out.scale = half_at(block);
    out.minimum = -half_at(block + 2);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = nibble_at(block + 4, i);
    return out;
  }
};

}  // namespace layerstream::quant

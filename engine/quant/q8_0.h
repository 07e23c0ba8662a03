#pragma once
// SPDX-License-Identifier: MIT
// Q8_0: 32 values in 34 bytes: half d, then 32 signed bytes v. value = d * v. v may be any byte, -128 included.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q8_0 {
  static constexpr QuantType kType = QuantType::q8_0;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::signed8;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 128;
  static constexpr SubScale kSubScale = SubScale::none;
  static constexpr bool kHasMinimum = false;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t codes[32];
  };
  static_assert(sizeof(Block) == 34 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(const std::byte* row, std::size_t tile, std::integral_constant<std::size_t, K>) {
    const std::byte* block = row + (tile * kTileBlocks + K) * sizeof(Block);
    return {simd::load_u8(block + 2), simd::load_u8(block + 18)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(const std::byte* row, std::size_t tile, std::size_t count) {
    return simd::gather_half4(row + tile * kTileBlocks * sizeof(Block), sizeof(Block), count);
  }
  static ScalarBlock scalar_block(const std::byte* row, std::size_t index) {
    const std::byte* block = row + index * sizeof(Block);
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = static_cast<std::int8_t>(byte_at(block, 2 + i));
    return out;
  }
};

}  // namespace layerstream::quant

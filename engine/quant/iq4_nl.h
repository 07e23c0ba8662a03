#pragma once
// SPDX-License-Identifier: MIT
// IQ4_NL: 32 values in 18 bytes: half d, then 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
// value = d * kIq4Values[nibble].

#include "quant/bytes.h"
#include "quant/iq4_values.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Iq4Nl {
  static constexpr QuantType kType = QuantType::iq4_nl;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::signed8;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 127;
  static constexpr SubScale kSubScale = SubScale::none;
  static constexpr bool kHasMinimum = false;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 18 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(const std::byte* row, std::size_t tile, std::integral_constant<std::size_t, K>) {
    return iq4_codes(row + (tile * kTileBlocks + K) * sizeof(Block) + offsetof(Block, nibbles));
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(const std::byte* row, std::size_t tile, std::size_t count) {
    return simd::gather_half4(row + tile * kTileBlocks * sizeof(Block), sizeof(Block), count);
  }
  static ScalarBlock scalar_block(const std::byte* row, std::size_t index) {
    const std::byte* block = row + index * sizeof(Block);
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = kIq4Values[nibble_at(block + 2, i)];
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// Q4_K: 256 values in 144 bytes: half d, half dmin, 12 bytes of scales and minimums (k_blocks.h), 128 bytes of nibbles: each
// 32 bytes hold run 2i in the low nibbles and run 2i + 1 in the high ones. value = d * s * nibble - dmin * n.

#include "quant/bytes.h"
#include "quant/k_blocks.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q4K {
  static constexpr QuantType kType = QuantType::q4_k;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::offset7;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 15;
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr bool kHasMinimum = true;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t dmin[2];
    std::uint8_t scales[12];
    std::uint8_t nibbles[128];
  };
  static_assert(sizeof(Block) == 144 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(const std::byte* row, std::size_t tile, std::integral_constant<std::size_t, K>) {
    const std::byte* block = row + tile / kTilesPerKBlock * sizeof(Block);
    const std::size_t half = tile % kTilesPerKBlock;
    const std::byte* bytes = block + offsetof(Block, nibbles) + 64 * half + 32 * (K / 2);
    return nibble_run<K % 2>(simd::load_u8(bytes), simd::load_u8(bytes + 16));
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(const std::byte* row, std::size_t tile, std::size_t) {
    return simd::splat_half4(row + tile / kTilesPerKBlock * sizeof(Block) + offsetof(Block, d));
  }
  static LAYERSTREAM_INLINE SubScales sub_scales(const std::byte* row, std::size_t tile) {
    const std::byte* block = row + tile / kTilesPerKBlock * sizeof(Block);
    const std::size_t half = tile % kTilesPerKBlock;
    return k_sub_scales(block + offsetof(Block, scales), half);
  }
  static LAYERSTREAM_INLINE simd::f32x4 minimums(const std::byte* row, std::size_t tile, std::size_t) {
    return simd::splat_half4(row + tile / kTilesPerKBlock * sizeof(Block) + offsetof(Block, dmin));
  }
  static LAYERSTREAM_INLINE simd::i16x8 sub_minimums(const std::byte* row, std::size_t tile) {
    const std::byte* block = row + tile / kTilesPerKBlock * sizeof(Block);
    const std::size_t half = tile % kTilesPerKBlock;
    return k_sub_minimums(block + offsetof(Block, scales), half);
  }
  static ScalarBlock scalar_block(const std::byte* row, std::size_t index) {
    const std::byte* block = row + index / kRunsPerKBlock * sizeof(Block);
    const std::size_t run = index % kRunsPerKBlock;
    ScalarBlock out;
    out.scale = half_at(block);
    out.minimum = half_at(block + 2);
    set_k_scales(block + 4, run, out);
    for (std::size_t i = 0; i < 32; ++i) {
      const int byte = byte_at(block, 16 + run / 2 * 32 + i);
      out.v[i] = static_cast<std::int16_t>(run % 2 == 0 ? byte & 15 : byte >> 4);
    }
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// Q5_K: 256 values in 176 bytes: half d, half dmin, 12 bytes of scales and minimums (k_blocks.h), 32 bytes of fifth bits (bit r
// of byte i: value i of run r), 128 bytes of nibbles as in Q4_K. value = d * s * (nibble | bit << 4) - dmin * n.

#include "quant/bytes.h"
#include "quant/k_blocks.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q5K {
  static constexpr QuantType kType = QuantType::q5_k;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::offset7;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 31;
  static constexpr SubScale kSubScale = SubScale::per32;
  static constexpr bool kHasMinimum = true;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t dmin[2];
    std::uint8_t scales[12];
    std::uint8_t fifth_bits[32];
    std::uint8_t nibbles[128];
  };
  static_assert(sizeof(Block) == 176 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(const std::byte* row, std::size_t tile, std::integral_constant<std::size_t, K>) {
    const std::byte* block = row + tile / kTilesPerKBlock * sizeof(Block);
    const std::size_t half = tile % kTilesPerKBlock;
    const std::byte* bytes = block + offsetof(Block, nibbles) + 64 * half + 32 * (K / 2);
    const std::byte* bits = block + offsetof(Block, fifth_bits);
    const std::size_t run = kTileBlocks * half + K;
    const CodePair low = nibble_run<K % 2>(simd::load_u8(bytes), simd::load_u8(bytes + 16));
    return {low.first | simd::where_bit(simd::load_u8(bits), run, 16), low.second | simd::where_bit(simd::load_u8(bits + 16), run, 16)};
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
      const int byte = byte_at(block, 48 + run / 2 * 32 + i);
      const int fifth = (byte_at(block, 16 + i) >> run) & 1;
      out.v[i] = static_cast<std::int16_t>((run % 2 == 0 ? byte & 15 : byte >> 4) | fifth << 4);
    }
    return out;
  }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// Q6_K: 256 values in 210 bytes: 128 bytes of nibbles, 64 bytes of upper bit pairs, 16 signed scales s (one per 16 values),
// half d. Per tile: 64 bytes hold runs 0 and 1 in the low nibbles and runs 2 and 3 in the high ones; bit pair r of 32 bytes
// belongs to run r. value = d * s * ((nibble | pair << 4) - 32).

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Q6K : IntegerType<QuantType::q6_k> {
  static constexpr int kOffset = 32;
  static constexpr int kMaxCode = 63;
  static constexpr bool kWholeBlocks = true;
  static constexpr SubScale kSubScale = SubScale::per16;

  struct Block {
    std::uint8_t nibbles[128];
    std::uint8_t pairs[64];
    std::int8_t scales[16];
    std::uint8_t d[2];
  };
  static_assert(sizeof(Block) == 210 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = tile.block + offsetof(Block, nibbles) + 64 * tile.half + 32 * (K % 2);
    const std::byte* pairs = tile.block + offsetof(Block, pairs) + 32 * tile.half;
    const CodePair low = nibble_run<K / 2>(simd::load_u8(bytes), simd::load_u8(bytes + 16));
    return {low.first | simd::shift_left_u8<4>(bit_pairs<K>(simd::load_u8(pairs))),
            low.second | simd::shift_left_u8<4>(bit_pairs<K>(simd::load_u8(pairs + 16)))};
  }
  struct RowScales {
    simd::f32x4 scale;
    simd::u32x4 s[4];  // bytes of each lane: those of runs 2i and 2i + 1

    template <std::size_t K>
    LAYERSTREAM_INLINE SubScales sub_scales() const {
      constexpr int kShift = 16 * (K % 2);
      const simd::i32x4 words = simd::as_i32(s[K / 2]);
      return {(words << (24 - kShift)) >> 24, (words << (16 - kShift)) >> 24};
    }
  };
  static LAYERSTREAM_INLINE RowScales row_scales(const std::byte* row, std::size_t row_bytes) {
    RowScales out;
    load_transposed(row + offsetof(Block, scales), row_bytes, out.s[0], out.s[1], out.s[2], out.s[3]);
    out.scale = simd::gather_half4(row + offsetof(Block, d), row_bytes, 4);
    return out;
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const simd::i32x4 s = simd::as_i32(simd::load_u16_as_u32(tile.block + offsetof(Block, scales) + 8 * tile.half));
    return {(s << 24) >> 24, (s << 16) >> 24};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    const std::size_t half = run / 4, k = run % 4;
    ScalarBlock out;
    out.scale = half_at(block + 208);
    for (std::size_t i = 0; i < 2; ++i) out.sub_scale[i] = static_cast<std::int8_t>(byte_at(block, 192 + 2 * run + i));
    for (std::size_t i = 0; i < 32; ++i) {
      const int byte = byte_at(block, 64 * half + 32 * (k % 2) + i);
      const int pair = (byte_at(block, 128 + 32 * half + i) >> (2 * k)) & 3;
      out.v[i] = static_cast<std::int16_t>(((k < 2 ? byte & 15 : byte >> 4) | pair << 4) - 32);
    }
    return out;
  }
};

}  // namespace layerstream::quant

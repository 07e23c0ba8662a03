#pragma once
// SPDX-License-Identifier: MIT
// Q2_K: 256 values in 84 bytes: 16 bytes of scale s (low nibble) and minimum n (high nibble), one per 16 values; 64 bytes of
// codes: per tile 32 bytes, bit pair r of them is run r; half d, half dmin. value = d * s * code - dmin * n.

#include "quant/k_blocks.h"

namespace layerstream::quant {

struct Q2K : IntegerType<QuantType::q2_k> {
  static constexpr int kMaxCode = 3;
  static constexpr bool kWholeBlocks = true;
  static constexpr SubScale kSubScale = SubScale::per16;
  static constexpr bool kHasMinimum = true;

  struct Block {
    std::uint8_t scales[16];
    std::uint8_t codes[64];
    std::uint8_t d[2];
    std::uint8_t dmin[2];
  };
  static_assert(sizeof(Block) == 84 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bytes = tile.block + offsetof(Block, codes) + 32 * tile.half;
    return {bit_pairs<K>(simd::load_u8(bytes)), bit_pairs<K>(simd::load_u8(bytes + 16))};
  }
  struct RowScales {
    simd::f32x4 scale;
    simd::f32x4 minimum;
    simd::u32x4 both[4];  // bytes of each lane: those of runs 2i and 2i + 1

    template <std::size_t K>
    LAYERSTREAM_INLINE SubScales sub_scales() const {
      const simd::i32x4 run = simd::as_i32(both[K / 2] >> (16 * (K % 2)));
      return {run & 15, (run >> 8) & 15};
    }
    template <std::size_t K>
    LAYERSTREAM_INLINE simd::i16x8 sub_minimum() const {
      const simd::u32x4 run = both[K / 2] >> (16 * (K % 2));
      return simd::as_i16(simd::as_i32(((run >> 4) & 0xfu) | ((run << 4) & 0xf0000u)));
    }
  };
  static LAYERSTREAM_INLINE RowScales row_scales(const std::byte* row, std::size_t row_bytes) {
    RowScales out;
    load_transposed(row + offsetof(Block, scales), row_bytes, out.both[0], out.both[1], out.both[2], out.both[3]);
    out.scale = simd::gather_half4(row + offsetof(Block, d), row_bytes, 4);
    out.minimum = simd::gather_half4(row + offsetof(Block, dmin), row_bytes, 4);
    return out;
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static LAYERSTREAM_INLINE SubScales sub_scales(Tile tile) {
    const simd::i32x4 both = simd::as_i32(simd::load_u16_as_u32(tile.block + offsetof(Block, scales) + 8 * tile.half));
    return {both & 15, (both >> 8) & 15};
  }
  static LAYERSTREAM_INLINE simd::f32x4 minimums(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, dmin)); }
  static LAYERSTREAM_INLINE simd::i16x8 sub_minimums(Tile tile) {
    const simd::i32x4 both = simd::as_i32(simd::load_u16_as_u32(tile.block + offsetof(Block, scales) + 8 * tile.half));
    return simd::as_i16(((both >> 4) & 15) | ((both >> 12) << 16));
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block + 80);
    out.minimum = half_at(block + 82);
    for (std::size_t i = 0; i < 2; ++i) {
      out.sub_scale[i] = byte_at(block, 2 * run + i) & 15;
      out.sub_minimum[i] = byte_at(block, 2 * run + i) >> 4;
    }
    for (std::size_t i = 0; i < 32; ++i) {
      out.v[i] = static_cast<std::int16_t>((byte_at(block, 16 + run / 4 * 32 + i) >> (run % 4 * 2)) & 3);
    }
    return out;
  }
};

}  // namespace layerstream::quant

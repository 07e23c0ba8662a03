#pragma once
// SPDX-License-Identifier: MIT
// Q1_0: 128 values in 18 bytes: half d, then a bit per value. value = d where it is set, -d where not.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q1_0 : IntegerType<QuantType::q1_0> {
  static constexpr int kOffset = 1;
  static constexpr int kMaxCode = 2;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t bits[16];
  };
  static_assert(sizeof(Block) == 18 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* bits = tile.block + offsetof(Block, bits) + 4 * K;
    const simd::u8x16 both = (simd::u8x16)simd::splat_u32(u32_at(bits));
    return {simd::spread_bits<0>(both, 2), simd::spread_bits<2>(both, 2)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block); }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = (u32_at(block + 2 + 4 * run) >> i & 1) != 0 ? 1 : -1;
    return out;
  }
};

}  // namespace layerstream::quant

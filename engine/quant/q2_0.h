#pragma once
// SPDX-License-Identifier: MIT
// Q2_0: 64 values in 18 bytes: half d, then two bits per value, four neighbours in a byte. value = d * (code - 1).
// Code 3 (2d) is legal, writers do not use it.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Q2_0 : IntegerType<QuantType::q2_0> {
  static constexpr int kOffset = 1;
  static constexpr int kMaxCode = 3;

  struct Block {
    std::uint8_t d[2];
    std::uint8_t codes[16];
  };
  static_assert(sizeof(Block) == 18 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::uint64_t packed = u64_at(tile.block + K / 2 * sizeof(Block) + offsetof(Block, codes) + K % 2 * 8);
    const simd::u8x16 bytes = simd::join_u64(packed, packed >> 4);
    // Nibbles in order, then the two codes of each in order.
    const simd::u8x16 nibbles = simd::interleave_low_u8(bytes, simd::high_halves(bytes, bytes));
    const simd::u8x16 even = nibbles & simd::splat_u8(3);
    const simd::u8x16 odd = simd::shift_right_u8<2>(nibbles) & simd::splat_u8(3);
    return {simd::interleave_low_u8(even, odd), simd::interleave_high_u8(even, odd)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t count) {
    const std::uint32_t first = u16_at(tile.block);
    const std::uint32_t second = count > 2 ? u16_at(tile.block + sizeof(Block)) : 0;
    return simd::half_to_float4(simd::u32x4{first, first, second, second});
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) {
      out.v[i] = static_cast<std::int16_t>(((byte_at(block, 2 + 8 * run + i / 4) >> (i % 4 * 2)) & 3) - 1);
    }
    return out;
  }
};

}  // namespace layerstream::quant

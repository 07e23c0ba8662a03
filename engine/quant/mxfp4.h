#pragma once
// SPDX-License-Identifier: MIT
// MXFP4: 32 values in 17 bytes: exponent byte E, then 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
// value = 2^(E - 128) * kFp4Values[nibble] for every E: 255, NaN in the OCP standard, is an exponent as any other.

#include <bit>

#include "quant/blocks_32.h"
#include "quant/fp4_values.h"

namespace layerstream::quant {

struct Mxfp4 : IntegerType<QuantType::mxfp4> {
  static constexpr int kOffset = kFp4Offset;
  static constexpr int kMaxCode = kFp4MaxCode;

  struct Block {
    std::uint8_t exponent;
    std::uint8_t nibbles[16];
  };
  static_assert(sizeof(Block) == 17 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    return nibble_codes(tile.block + K * sizeof(Block) + offsetof(Block, nibbles), fp4_codes());
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t count) {
    std::uint32_t bits[4] = {};
    if (count == kTileBlocks) {
      simd::unroll<kTileBlocks>([&](auto i) __attribute__((always_inline)) { bits[i] = scale_bits(byte_at(tile.block, i * sizeof(Block))); });
    } else {
      for (std::size_t i = 0; i < count; ++i) bits[i] = scale_bits(byte_at(tile.block, i * sizeof(Block)));
    }
    return simd::as_f32(simd::u32x4{bits[0], bits[1], bits[2], bits[3]});
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t) {
    ScalarBlock out;
    out.scale = std::bit_cast<float>(scale_bits(byte_at(block, 0)));
    for (std::size_t i = 0; i < 32; ++i) out.v[i] = kFp4Values[nibble_at(block + 1, i)];
    return out;
  }

 private:
  // Of the float 2^(exponent - 128); the two smallest are subnormal.
  static LAYERSTREAM_INLINE std::uint32_t scale_bits(std::uint32_t exponent) {
    return exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23;
  }
};

}  // namespace layerstream::quant

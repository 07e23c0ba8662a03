#pragma once
// SPDX-License-Identifier: MIT
// NVFP4: 64 values in 36 bytes: a scale byte c per 16 values, then 8 bytes of nibbles per 16 values: low nibbles are values
// 0..7, high ones 8..15. value = u(c) / 2 * kFp4Values[nibble], u an unsigned float of four exponent and three mantissa bits
// (E4M3 without its sign bit): with x, f the two fields, f * 2^-9 for x = 0 and (8 + f) * 2^(x - 10) else; 0x7f is 0.
// u is an integer s times 2^-9, at most 15 << 14: the wide sub-scale.

#include "quant/blocks_32.h"
#include "quant/fp4_values.h"

namespace layerstream::quant {

struct Nvfp4 : IntegerType<QuantType::nvfp4> {
  static constexpr int kOffset = kFp4Offset;
  static constexpr int kMaxCode = kFp4MaxCode;
  static constexpr SubScale kSubScale = SubScale::per16_wide;

  struct Block {
    std::uint8_t scales[4];
    std::uint8_t nibbles[32];
  };
  static_assert(sizeof(Block) == 36 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* nibbles = tile.block + K / 2 * sizeof(Block) + offsetof(Block, nibbles) + K % 2 * 16;
    const CodePair halves = nibble_codes(nibbles, fp4_codes());
    return {simd::low_halves(halves.first, halves.second), simd::high_halves(halves.first, halves.second)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile, std::size_t) { return simd::splat_f32(kUnit); }
  static LAYERSTREAM_INLINE WideSubScales wide_sub_scales(Tile tile, std::size_t count) {
    const std::uint32_t low = u32_at(tile.block);
    const std::uint32_t high = count > 2 ? u32_at(tile.block + sizeof(Block)) : 0;
    const simd::u32x4 pairs = {low, low >> 16, high, high >> 16};
    return {wide_scales(pairs & 255), wide_scales((pairs >> 8) & 255)};
  }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = kUnit;
    for (std::size_t i = 0; i < 2; ++i) {
      const int c = byte_at(block, 2 * run + i);
      const int exponent = (c >> 3) & 15, fraction = c & 7;
      out.sub_scale[i] = c == 0x7f ? 0 : exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const int byte = byte_at(block, 4 + 16 * run + i / 16 * 8 + i % 8);
      out.v[i] = kFp4Values[i % 16 < 8 ? byte & 15 : byte >> 4];
    }
    return out;
  }

 private:
  static constexpr float kUnit = 0x1p-10f;  // 2^-9, halved for the values that are twice too large

  // s of scale bytes as floats: the fields of c in the places of a float's, the exponent rebiased.
  static LAYERSTREAM_INLINE simd::f32x4 wide_scales(simd::u32x4 c) {
    const simd::i32x4 fields = simd::as_i32(c & 127);
    const simd::f32x4 normal = simd::as_f32((fields << 20) + (129 << 23));
    const simd::f32x4 s = simd::select(fields < 8, simd::to_f32(fields), normal);
    return simd::as_f32(simd::as_i32(simd::as_u32(s)) & (simd::as_i32(c) != 127));
  }
};

}  // namespace layerstream::quant

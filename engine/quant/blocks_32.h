#pragma once
// SPDX-License-Identifier: MIT
// What the types share whose quant block is one activation block: 32 values behind a half d. A row may end inside a tile.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

// value = d * v.
template <QuantType Type>
struct Blocks32 : IntegerType<Type> {
  static constexpr std::size_t kBlockBytes = type_info(Type).block_bytes;

  static LAYERSTREAM_INLINE const std::byte* block_at(Tile tile, std::size_t k) { return tile.block + k * kBlockBytes; }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t count) {
    return simd::gather_half4(tile.block, kBlockBytes, count);
  }
};

// A half m behind d, value = d * v + m: M = -m with n = 1.
template <QuantType Type>
struct Blocks32WithMinimum : Blocks32<Type> {
  static constexpr bool kHasMinimum = true;

  static LAYERSTREAM_INLINE simd::f32x4 minimums(Tile tile, std::size_t count) {
    return -simd::gather_half4(tile.block + 2, Blocks32<Type>::kBlockBytes, count);
  }
  static LAYERSTREAM_INLINE simd::i16x8 sub_minimums(Tile) { return simd::splat_i16(1); }
};

// 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
LAYERSTREAM_INLINE CodePair nibble_codes(const std::byte* nibbles) {
  const simd::u8x16 bytes = simd::load_u8(nibbles);
  return {bytes & simd::splat_u8(15), simd::shift_right_u8<4>(bytes)};
}
// The same with each nibble's entry of a table.
LAYERSTREAM_INLINE CodePair nibble_codes(const std::byte* nibbles, simd::u8x16 table) {
  const CodePair nibble = nibble_codes(nibbles);
  return {simd::lookup16(table, nibble.first), simd::lookup16(table, nibble.second)};
}

// 32 fifth bits in value order, then 16 bytes of nibbles.
LAYERSTREAM_INLINE CodePair five_bit_codes(const std::byte* fifth_bits) {
  const CodePair low = nibble_codes(fifth_bits + 4);
  const simd::u8x16 bits = (simd::u8x16)simd::splat_u32(u32_at(fifth_bits));
  return {low.first | simd::spread_bits<0>(bits, 16), low.second | simd::spread_bits<2>(bits, 16)};
}
inline int five_bit_code_at(const std::byte* fifth_bits, std::size_t i) {
  return nibble_at(fifth_bits + 4, i) | static_cast<int>((u32_at(fifth_bits) >> i) & 1) << 4;
}

}  // namespace layerstream::quant

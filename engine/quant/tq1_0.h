#pragma once
// SPDX-License-Identifier: MIT
// TQ1_0: 256 values in 54 bytes of base-3 digits, the first one on top: 32 bytes with five digits (digit k of byte i: value i of
// run k), 16 bytes with five (runs 5, 6 and the first half of 7), 4 bytes with four (the rest); half d. value = d * (digit - 1).
// A byte b stands for the fraction b / 256: digit k is the whole part of three times the fraction of b * 3^k / 256. Any byte decodes to
// digits 0..2; writers use 243 of them.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct Tq1_0 : IntegerType<QuantType::tq1_0> {
  static constexpr int kOffset = 1;
  static constexpr int kMaxCode = 2;

  struct Block {
    std::uint8_t fives[32];
    std::uint8_t short_fives[16];
    std::uint8_t fours[4];
    std::uint8_t d[2];
  };
  static_assert(sizeof(Block) == 54 && sizeof(Block) == type_info(kType).block_bytes);

  template <std::size_t K>
  static LAYERSTREAM_INLINE CodePair codes(Tile tile, std::integral_constant<std::size_t, K>) {
    const std::byte* fives = tile.block + offsetof(Block, fives);
    if (tile.half == 0) return {digits<K>(simd::load_u8(fives)), digits<K>(simd::load_u8(fives + 16))};
    if constexpr (K == 0) return {digits<4>(simd::load_u8(fives)), digits<4>(simd::load_u8(fives + 16))};
    const simd::u8x16 short_fives = simd::load_u8(tile.block + offsetof(Block, short_fives));
    if constexpr (K == 1) return {digits<0>(short_fives), digits<1>(short_fives)};
    if constexpr (K == 2) return {digits<2>(short_fives), digits<3>(short_fives)};
    const std::uint32_t fours = u32_at(tile.block + offsetof(Block, fours));
    return {digits<4>(short_fives), four_digits(fours)};
  }
  static LAYERSTREAM_INLINE simd::f32x4 scales(Tile tile, std::size_t) { return simd::splat_half4(tile.block + offsetof(Block, d)); }
  static ScalarBlock scalar_block(const std::byte* block, std::size_t run) {
    ScalarBlock out;
    out.scale = half_at(block + 52);
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t e = 32 * run + i;
      const std::size_t byte = e < 160 ? e % 32 : e < 240 ? 32 + e % 16 : 48 + e % 4;
      const std::size_t k = e < 160 ? e / 32 : e < 240 ? (e - 160) / 16 : (e - 240) / 4;
      const unsigned fraction = static_cast<unsigned>(byte_at(block, byte)) * kPowers[k] % 256;
      out.v[i] = static_cast<std::int16_t>(static_cast<int>(fraction * 3 / 256) - 1);
    }
    return out;
  }

 private:
  static constexpr std::uint16_t kPowers[5] = {1, 3, 9, 27, 81};

  // The whole part of 3 * fraction / 256.
  static LAYERSTREAM_INLINE simd::u8x16 whole_part(simd::u8x16 fractions) {
    const simd::i8x16 f = simd::as_i8(fractions ^ simd::splat_u8(128));  // compared signed
    return simd::u8x16{} - (simd::u8x16)(f > simd::as_i8(simd::splat_u8(85 ^ 128))) - (simd::u8x16)(f > simd::as_i8(simd::splat_u8(170 ^ 128)));
  }
  // Bytes times powers (one for two bytes), modulo 256: no back end multiplies bytes.
  static LAYERSTREAM_INLINE simd::u8x16 times(simd::u8x16 bytes, simd::u16x8 powers) {
    const simd::u16x8 pairs = (simd::u16x8)bytes;
    return (simd::u8x16)(((pairs * powers) & 0x00ff) | ((pairs & 0xff00) * powers));
  }
  template <std::size_t K>
  static LAYERSTREAM_INLINE simd::u8x16 digits(simd::u8x16 bytes) {
    if constexpr (K == 0) {
      return whole_part(bytes);
    } else {
      return whole_part(times(bytes, simd::u16x8{} + kPowers[K]));
    }
  }
  // Digits 0..3 of four bytes, four bytes each.
  static LAYERSTREAM_INLINE simd::u8x16 four_digits(std::uint32_t bytes) {
    constexpr simd::u16x8 kPowerOfPairs = {1, 1, 3, 3, 9, 9, 27, 27};
    return whole_part(times((simd::u8x16)simd::splat_u32(bytes), kPowerOfPairs));
  }
};

}  // namespace layerstream::quant

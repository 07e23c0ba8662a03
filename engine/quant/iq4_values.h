#pragma once
// SPDX-License-Identifier: MIT
// The 16 values that the nibbles of IQ4_NL and IQ4_XS stand for. They need the whole signed byte, but not -128.

#include "quant/quant_traits.h"

namespace layerstream::quant {

inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// 16 bytes of nibbles to 32 values: low nibbles are values 0..15, high ones 16..31.
LAYERSTREAM_INLINE CodePair iq4_codes(const std::byte* nibbles) {
  const simd::u8x16 table = simd::load_u8(kIq4Values);
  const simd::u8x16 bytes = simd::load_u8(nibbles);
  return {simd::lookup16(table, bytes & simd::splat_u8(15)), simd::lookup16(table, simd::shift_right_u8<4>(bytes))};
}

}  // namespace layerstream::quant

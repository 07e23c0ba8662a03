#pragma once
// SPDX-License-Identifier: MIT
// The nibbles of MXFP4 and NVFP4 are 4-bit floats (E2M1: sign, two exponent bits, one mantissa bit). Twice their values are
// integers; minus zero counts as zero.

#include <cstdint>

#include "simd/simd.h"

namespace layerstream::quant {

inline constexpr std::int8_t kFp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
inline constexpr int kFp4Offset = 12;
inline constexpr int kFp4MaxCode = 24;

// Value + offset of each nibble.
LAYERSTREAM_INLINE simd::u8x16 fp4_codes() { return simd::load_u8(kFp4Values) + simd::splat_u8(kFp4Offset); }

}  // namespace layerstream::quant

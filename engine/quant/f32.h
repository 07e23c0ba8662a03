#pragma once
// SPDX-License-Identifier: MIT
// F32: plain floats, 4 bytes each, not necessarily aligned.

#include <bit>

#include "quant/bytes.h"
#include "quant/quant_traits.h"

namespace layerstream::quant {

struct F32 {
  static constexpr QuantType kType = QuantType::f32;
  static constexpr ActivationKind kActivation = ActivationKind::f32;

  static LAYERSTREAM_INLINE simd::f32x4 load4(const std::byte* row, std::size_t column) {
    return (simd::f32x4)simd::load_u8(row + 4 * column);
  }
  static LAYERSTREAM_INLINE float load1(const std::byte* row, std::size_t column) {
    return std::bit_cast<float>(u32_at(row + 4 * column));
  }
};

}  // namespace layerstream::quant

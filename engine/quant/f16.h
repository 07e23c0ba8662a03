#pragma once
// SPDX-License-Identifier: MIT
// F16: IEEE halves, full range: subnormals, infinities and NaN as they are.

#include "quant/bytes.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

struct F16 {
  static constexpr QuantType kType = QuantType::f16;
  static constexpr ActivationKind kActivation = ActivationKind::f32;

  static LAYERSTREAM_INLINE simd::f32x4 load4(const std::byte* row, std::size_t column) {
    return simd::load_half4(row + 2 * column);
  }
  static LAYERSTREAM_INLINE float load1(const std::byte* row, std::size_t column) { return half_at(row + 2 * column); }
};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// BF16: the upper 16 bits of a float.

#include "quant/bytes.h"
#include "quant/quant_traits.h"

namespace layerstream::quant {

struct Bf16 {
  static constexpr QuantType kType = QuantType::bf16;
  static constexpr ActivationKind kActivation = ActivationKind::f32;

  static LAYERSTREAM_INLINE simd::f32x4 load4(const std::byte* row, std::size_t column) {
    return simd::as_f32(simd::load_u16_as_u32(row + 2 * column) << 16);
  }
  static LAYERSTREAM_INLINE float load1(const std::byte* row, std::size_t column) { return bfloat_to_float(u16_at(row + 2 * column)); }
};

}  // namespace layerstream::quant

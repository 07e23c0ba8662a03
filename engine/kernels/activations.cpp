// SPDX-License-Identifier: MIT
// Float activations to int8 blocks. Formula and edges: activations.h. Shapes: x [length] -> q [length],
// scales [length / 32], sums [length / 32]. Memory-bound beside any matrix product.

#include "kernels/activations.h"

#include <bit>
#include <limits>

#include "quant/quant_traits.h"
#include "simd/simd.h"

namespace layerstream::kernels {
namespace {

constexpr std::uint32_t kTinyBits = 0x03800000u;      // 2^-120
constexpr std::uint32_t kInfinityBits = 0x7f800000u;
constexpr float kRoundToInteger = 12582912.0f;        // 1.5 * 2^23: the sum's low bits are the rounded integer

// Bits of max |x| over 32 values; NaN counts as greater than infinity.
LAYERSTREAM_INLINE std::uint32_t max_magnitude_bits(const float* x) {
  simd::i32x4 greatest = {};
  simd::unroll<8>([&](auto i) __attribute__((always_inline)) {
    greatest = simd::max_i32(greatest, simd::as_i32(simd::as_u32(simd::load_f32(x + 4 * i)) & 0x7fffffffu));
  });
  std::int32_t result = 0;
  for (std::size_t lane = 0; lane < 4; ++lane) result = result > greatest[lane] ? result : greatest[lane];
  return static_cast<std::uint32_t>(result);
}

// 16 values to int8; returns their sum.
LAYERSTREAM_INLINE std::int32_t quantize16(const float* x, simd::f32x4 factor, std::int8_t* q) {
  simd::u32x4 rounded[4];
  simd::unroll<4>([&](auto i) __attribute__((always_inline)) {
    rounded[i] = simd::as_u32(simd::load_f32(x + 4 * i) * factor + simd::splat_f32(kRoundToInteger));
  });
  simd::store_u8(q, simd::low_bytes(rounded[0], rounded[1], rounded[2], rounded[3]));
  // Each lane is the bits of 1.5 * 2^23 plus the integer.
  const simd::u32x4 sum = (rounded[0] + rounded[1]) + (rounded[2] + rounded[3]);
  const std::uint32_t total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return static_cast<std::int32_t>(total - 16u * std::bit_cast<std::uint32_t>(kRoundToInteger));
}

}  // namespace

void quantize_activations(const float* x, std::size_t length, std::int8_t* q, float* scales, std::int32_t* sums) {
  for (std::size_t block = 0; block < length / quant::kActivationBlock; ++block) {
    const float* values = x + block * quant::kActivationBlock;
    std::int8_t* out = q + block * quant::kActivationBlock;
    const std::uint32_t bits = max_magnitude_bits(values);
    if (bits < kTinyBits || bits >= kInfinityBits) {
      simd::store_u8(out, simd::u8x16{});
      simd::store_u8(out + 16, simd::u8x16{});
      sums[block] = 0;
      scales[block] = bits < kTinyBits ? 0.0f : std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    const float greatest = std::bit_cast<float>(bits);
    const simd::f32x4 factor = simd::splat_f32(127.0f / greatest);
    const std::int32_t first = quantize16(values, factor, out);
    const std::int32_t second = quantize16(values + 16, factor, out + 16);
    sums[block] = pack_sums(first, second);
    scales[block] = greatest / 127.0f;
  }
}

}  // namespace layerstream::kernels

#pragma once
// SPDX-License-Identifier: MIT
// The right-hand side of a matrix product: n_columns activation vectors ("entries"), kept as floats and,
// if a quantised weight will meet them, also as int8 with one f32 scale per 32 values.
// Quantisation: scale = max|x| / 127, q = round-half-to-even(x * (127 / max|x|)), in [-127, 127].
// Edges: a block whose max|x| is below 2^-120 (all zeros, mostly) has scale 0 and q 0, since 127 / max must not overflow;
// a block that holds an infinity or NaN has scale NaN and q 0, so every product with it is NaN and nothing hides it.

#include <cstddef>
#include <cstdint>
#include <span>

namespace layerstream::kernels {

// Views; the caller owns the memory. length is a multiple of 32 when q8 is used.
struct Activations {
  const float* f32 = nullptr;           // [n_columns, length]
  const std::int8_t* q8 = nullptr;      // [n_columns, length], or nullptr
  const float* q8_scales = nullptr;     // [n_columns, length / 32]
  // [n_columns, length / 32] exact sums of q, packed: the low 16 bits are the sum of the first 16 values of the block,
  // the high 16 bits that of the last 16 (both signed; |sum| <= 2032). So types with scales or minimums per 16 and
  // per 32 are served by one array, and one dot_i16 against (a, a) or (a0, a1) pairs.
  const std::int32_t* q8_sums = nullptr;
  std::size_t n_columns = 0;
  std::size_t length = 0;
};

[[nodiscard]] constexpr std::int32_t pack_sums(std::int32_t first, std::int32_t second) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(first) & 0xffffu) | (static_cast<std::uint32_t>(second) << 16));
}
[[nodiscard]] constexpr std::int32_t first_sum(std::int32_t packed) { return static_cast<std::int16_t>(packed & 0xffff); }
[[nodiscard]] constexpr std::int32_t second_sum(std::int32_t packed) { return packed >> 16; }

// Quantises one vector. length multiple of 32. q [length], scales and sums [length / 32].
void quantize_activations(const float* x, std::size_t length, std::int8_t* q, float* scales, std::int32_t* sums);

}  // namespace layerstream::kernels

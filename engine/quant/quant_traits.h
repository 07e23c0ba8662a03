#pragma once
// SPDX-License-Identifier: MIT
// What a weight type must supply: one header per type in this folder, one entry in registry.h. Loops over rows and
// columns live in kernels/, written once over these traits.
//
// A quantised type is described in units of an activation block (32 values) and of a tile (4 activation blocks, 128
// values): value(e) = S * s(e/16) * v(e) - M * n(e/16), with v, s, n small integers, S and M floats per 32 values.
// Types with one scale per 32 or more have s = 1; types without minimum have no M. The integer side of a block,
//   I = s0 * sum(v x, first half) + s1 * sum(v x, second half),  N = n0 * sum(x, first) + n1 * sum(x, second),
// is exact in i32, so the SIMD path may order it as it likes; the float side is one term per activation block:
//   float(I) * (S * xs)  [ - float(N) * (M * xs) ],  xs the activation scale.

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "simd/simd.h"

namespace layerstream::quant {

// How activations meet a weight type.
enum class ActivationKind {
  f32,  // float weights (F32, F16, BF16): activations stay float
  q8,   // integer weights: activations quantised per 32 values, see kernels/activations.h
};

// One block of quantised activations: 32 values, x[i] ~ scale * values[i].
inline constexpr std::size_t kActivationBlock = 32;
inline constexpr std::size_t kTileBlocks = 4;
inline constexpr std::size_t kTile = kActivationBlock * kTileBlocks;

// The form of the codes a trait hands to the integer dot.
enum class Codes {
  offset7,  // unsigned 0..127, code = v + kOffset; the offset is taken off again with the sums of x
  signed8,  // v itself, -128..127
};

// The integer sub-scale s.
enum class SubScale { none, per32, per16 };

// 32 codes in value order.
struct CodePair {
  simd::u8x16 first;
  simd::u8x16 second;
};

// s of the first and second halves of four activation blocks. per32: both are equal.
struct SubScales {
  simd::i32x4 first;
  simd::i32x4 second;
};

// One activation block decoded by the obvious scalar reading of the format: the oracle's view, and what
// dequantize_row is made of. value = (scale * sub_scale[i/16]) * v[i] - minimum * sub_minimum[i/16].
struct ScalarBlock {
  std::int16_t v[kActivationBlock] = {};
  float scale = 0.0f;
  int sub_scale[2] = {1, 1};
  float minimum = 0.0f;
  int sub_minimum[2] = {1, 1};
};

// Float weights.
template <typename Q>
concept FloatTrait = Q::kActivation == ActivationKind::f32 && requires(const std::byte* row, std::size_t column) {
  { Q::kType } -> std::convertible_to<QuantType>;
  { Q::load4(row, column) } -> std::same_as<simd::f32x4>;  // weights column .. column + 3
  { Q::load1(row, column) } -> std::same_as<float>;
};

// Quantised weights. `tile` counts tiles from the start of a row, `count` (1..4) says how many activation blocks of it
// lie in the row: scales of the others are 0 and their bytes are not touched. k (a constant 0..3) is a block of the tile.
template <typename Q>
concept IntegerTrait =
    Q::kActivation == ActivationKind::q8 &&
    requires(const std::byte* row, std::size_t tile, std::size_t count, std::integral_constant<std::size_t, 0> k) {
      { Q::kType } -> std::convertible_to<QuantType>;
      { Q::kCodes } -> std::convertible_to<Codes>;
      { Q::kOffset } -> std::convertible_to<int>;   // offset7: code - v
      { Q::kMaxCode } -> std::convertible_to<int>;  // greatest |code|
      { Q::kSubScale } -> std::convertible_to<SubScale>;
      { Q::kHasMinimum } -> std::convertible_to<bool>;
      { Q::codes(row, tile, k) } -> std::same_as<CodePair>;
      { Q::scales(row, tile, count) } -> std::same_as<simd::f32x4>;  // S
      { Q::scalar_block(row, tile) } -> std::same_as<ScalarBlock>;   // second argument: activation block of the row
    } &&
    (Q::kSubScale == SubScale::none || requires(const std::byte* row, std::size_t tile) {
      { Q::sub_scales(row, tile) } -> std::same_as<SubScales>;
    }) &&
    (!Q::kHasMinimum || requires(const std::byte* row, std::size_t tile, std::size_t count) {
      { Q::minimums(row, tile, count) } -> std::same_as<simd::f32x4>;  // M
      { Q::sub_minimums(row, tile) } -> std::same_as<simd::i16x8>;     // n0, n1 of each block, to meet the packed sums of x
    });

template <typename Q>
concept Trait = FloatTrait<Q> || IntegerTrait<Q>;

// A row as floats, bit-exact: S * s * v never rounds, a minimum rounds once at the subtraction.
// count is a multiple of the quant block.
template <FloatTrait Q>
void dequantize_row(const std::byte* row, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = Q::load1(row, i);
}
template <IntegerTrait Q>
void dequantize_row(const std::byte* row, float* out, std::size_t count) {
  for (std::size_t block = 0; block < count / kActivationBlock; ++block) {
    const ScalarBlock b = Q::scalar_block(row, block);
    for (std::size_t i = 0; i < kActivationBlock; ++i) {
      const std::size_t half = i / 16;
      float value = (b.scale * static_cast<float>(b.sub_scale[half])) * static_cast<float>(b.v[i]);
      if constexpr (Q::kHasMinimum) value -= b.minimum * static_cast<float>(b.sub_minimum[half]);
      out[block * kActivationBlock + i] = value;
    }
  }
}

}  // namespace layerstream::quant

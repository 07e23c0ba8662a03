#pragma once
// SPDX-License-Identifier: MIT
// What a weight type must supply: one header per type in this folder, one entry in registry.h. Loops over rows and
// columns live in kernels/, written once over these traits.
//
// A quantised type is described in units of an activation block (32 values) and of a tile (4 activation blocks, 128
// values): value(e) = S * s(e/16) * v(e) - M * n(e/16), with v, s, n small integers, S and M floats per 32 values.
// Types with one scale per 32 or more have s = 1; types without minimum have no M. The integer side of a block,
//   I = s0 * sum(v x, first half) + s1 * sum(v x, second half),  N = n0 * sum(x, first) + n1 * sum(x, second),
// is exact, so the SIMD path may order it as it likes; the float side is one term per activation block:
//   float(I) * (S * xs)  [ - float(N) * (M * xs) ],  xs the activation scale.
// I and N fit i32, and their floats are exact; wide sub-scales are the exception (SubScale::per16_wide).

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
enum class SubScale {
  none,
  per32,
  per16,
  // s has up to 18 bits, at most 4 of them significant (NVFP4), so I may pass i32. float(s) * float(sum) is exact all the
  // same, and the sum of the two halves' products rounds as float(I) would.
  per16_wide,
};

// Where a tile lies in its row.
struct Tile {
  const std::byte* block;  // its quant block, or the first one of those that make it up
  std::size_t half;        // which tile of that block it is: 0, or 1 in blocks of 256
};

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

// The same of wide sub-scales, which meet the sums as floats.
struct WideSubScales {
  simd::f32x4 first;
  simd::f32x4 second;
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

// What holds for most quantised types; a trait that differs declares its own.
template <QuantType Type>
struct IntegerType {
  static constexpr QuantType kType = Type;
  static constexpr ActivationKind kActivation = ActivationKind::q8;
  static constexpr Codes kCodes = Codes::offset7;
  static constexpr int kOffset = 0;
  static constexpr SubScale kSubScale = SubScale::none;
  static constexpr bool kHasMinimum = false;
  // In blocks of 256: both tiles in one step of the loop over a row, so that which half a tile is is a constant and what the
  // halves share is decoded once. Worth 4 to 32 % for some types and -8 to -20 % for others (more code, registers): measured.
  static constexpr bool kWholeBlocks = false;
  // In blocks of 256 with row_scales (below): one column takes the product of matmul_q8_rows.h. Measured.
  static constexpr bool kLanesAreRows = false;
};

// Quantised weights. `count` (1..4) says how many activation blocks of a tile lie in the row: the bytes of the others are not
// touched, and their scales are any finite number. k (a constant 0..3) is a block of the tile; `run` an activation block of
// the quant block.
template <typename Q>
concept IntegerTrait =
    Q::kActivation == ActivationKind::q8 &&
    requires(Tile tile, std::size_t count, std::integral_constant<std::size_t, 0> k, const std::byte* block, std::size_t run) {
      { Q::kType } -> std::convertible_to<QuantType>;
      { Q::kCodes } -> std::convertible_to<Codes>;
      { Q::kOffset } -> std::convertible_to<int>;   // offset7: code - v
      { Q::kMaxCode } -> std::convertible_to<int>;  // greatest |code|
      { Q::kSubScale } -> std::convertible_to<SubScale>;
      { Q::kHasMinimum } -> std::convertible_to<bool>;
      { Q::kWholeBlocks } -> std::convertible_to<bool>;
      { Q::codes(tile, k) } -> std::same_as<CodePair>;
      { Q::scales(tile, count) } -> std::same_as<simd::f32x4>;  // S
      { Q::scalar_block(block, run) } -> std::same_as<ScalarBlock>;
    } &&
    (Q::kSubScale == SubScale::none || Q::kSubScale == SubScale::per16_wide || requires(Tile tile) {
      { Q::sub_scales(tile) } -> std::same_as<SubScales>;
    }) &&
    (Q::kSubScale != SubScale::per16_wide || requires(Tile tile, std::size_t count) {
      { Q::wide_sub_scales(tile, count) } -> std::same_as<WideSubScales>;
    }) &&
    (!Q::kHasMinimum || requires(Tile tile, std::size_t count) {
      { Q::minimums(tile, count) } -> std::same_as<simd::f32x4>;  // M
      { Q::sub_minimums(tile) } -> std::same_as<simd::i16x8>;     // n0, n1 of each block, to meet the packed sums of x
    });

// A type whose factors of a whole quant block of 256 are decoded for four rows at once, lanes = rows: the quant blocks at row,
// row + row_bytes, ... K (0..7) is an activation block of the quant block.
template <typename Q>
concept RowScalesTrait = IntegerTrait<Q> && (Q::kSubScale == SubScale::per32 || Q::kSubScale == SubScale::per16) &&
                         type_info(Q::kType).block_elements == 2 * kTile && requires(const std::byte* row, std::size_t row_bytes) {
                           { Q::row_scales(row, row_bytes).scale } -> std::same_as<simd::f32x4&&>;                         // S
                           { Q::row_scales(row, row_bytes).template sub_scales<0>() } -> std::same_as<SubScales>;          // s0, s1
                         } && (!Q::kHasMinimum || requires(const std::byte* row, std::size_t row_bytes) {
                           { Q::row_scales(row, row_bytes).minimum } -> std::same_as<simd::f32x4&&>;                       // M
                           { Q::row_scales(row, row_bytes).template sub_minimum<0>() } -> std::same_as<simd::i16x8>;       // n0, n1
                         });

template <typename Q>
concept Trait = FloatTrait<Q> || IntegerTrait<Q>;

// Tile number `index` of a row.
template <IntegerTrait Q>
LAYERSTREAM_INLINE Tile tile_at(const std::byte* row, std::size_t index) {
  constexpr TypeInfo kInfo = type_info(Q::kType);
  if constexpr (kInfo.block_elements < kTile) {
    return {row + index * (kTile / kInfo.block_elements) * kInfo.block_bytes, 0};
  } else {
    constexpr std::size_t kTilesPerBlock = kInfo.block_elements / kTile;
    return {row + index / kTilesPerBlock * kInfo.block_bytes, index % kTilesPerBlock};
  }
}

// Activation block number `index` of a row.
template <IntegerTrait Q>
[[nodiscard]] ScalarBlock scalar_block_at(const std::byte* row, std::size_t index) {
  constexpr TypeInfo kInfo = type_info(Q::kType);
  constexpr std::size_t kRunsPerBlock = kInfo.block_elements / kActivationBlock;
  return Q::scalar_block(row + index / kRunsPerBlock * kInfo.block_bytes, index % kRunsPerBlock);
}

// A row as floats, bit-exact: S * s * v never rounds, a minimum rounds once at the subtraction.
// count is a multiple of the quant block.
template <FloatTrait Q>
void dequantize_row(const std::byte* row, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = Q::load1(row, i);
}
template <IntegerTrait Q>
void dequantize_row(const std::byte* row, float* out, std::size_t count) {
  for (std::size_t block = 0; block < count / kActivationBlock; ++block) {
    const ScalarBlock b = scalar_block_at<Q>(row, block);
    for (std::size_t i = 0; i < kActivationBlock; ++i) {
      const std::size_t half = i / 16;
      float value = (b.scale * static_cast<float>(b.sub_scale[half])) * static_cast<float>(b.v[i]);
      if constexpr (Q::kHasMinimum) value -= b.minimum * static_cast<float>(b.sub_minimum[half]);
      out[block * kActivationBlock + i] = value;
    }
  }
}

}  // namespace layerstream::quant

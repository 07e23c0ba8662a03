#pragma once
// SPDX-License-Identifier: MIT
// The product of matmul_q8.h for the types whose quant block is one activation block (32 values, a float scale each): lanes
// are rows from the integer dot on. So a block's activations are loaded, and widened, once for R rows, and of a tile only the
// scales have to be transposed. Formula, order of sums, tail and alignment are those of matmul_q8.h.

#include "kernels/matmul_q8.h"

namespace layerstream::kernels {

template <typename Q>
concept Block32Trait = quant::IntegerTrait<Q> && type_info(Q::kType).block_elements == quant::kActivationBlock && Q::kSubScale == quant::SubScale::none;

// R <= 4.
template <Block32Trait Q, std::size_t R, typename AnyDot>
class Q8BlocksKernel {
 public:
  // Writes y[0..R-1].
  static void run(const WeightRows& w, const Q8Columns& x, float* y) {
    Q8BlocksKernel kernel(w, x);
    for_tiles<Q>(x.length, [&](std::size_t tile, auto count) __attribute__((always_inline)) { kernel.template add_tile<count>(tile); });
    for (std::size_t r = 0; r < R; ++r) y[r] = kernel.acc_[r];
  }

 private:
  using D = ColumnDot<Q, AnyDot>;

  LAYERSTREAM_INLINE Q8BlocksKernel(const WeightRows& w, const Q8Columns& x) : w_(w), x_(x), ahead_(w.data, w.row_bytes, w.end) {}

  LAYERSTREAM_INLINE quant::Tile tile_of(std::size_t r, std::size_t tile) const {
    return quant::tile_at<Q>(w_.data + r * w_.row_bytes, tile);
  }

  // The first Count blocks of a tile.
  template <std::size_t Count>
  LAYERSTREAM_INLINE void add_tile(std::size_t tile) {
    simd::f32x4 scales[4] = {};  // [row] of blocks, then [block] of rows
    [[maybe_unused]] simd::f32x4 minimums[4] = {};
    ahead_.template step<bytes_of<Q>(Count)>();
    simd::unroll<R>([&](auto r) __attribute__((always_inline)) {
      ahead_.template touch<bytes_of<Q>(Count)>(r);
      scales[r] = Q::scales(tile_of(r, tile), Count);
      if constexpr (Q::kHasMinimum) minimums[r] = Q::minimums(tile_of(r, tile), Count);
    });
    simd::transpose(scales[0], scales[1], scales[2], scales[3]);
    if constexpr (Q::kHasMinimum) simd::transpose(minimums[0], minimums[1], minimums[2], minimums[3]);
    simd::unroll<Count>([&](auto k) __attribute__((always_inline)) {
      const std::size_t block = tile * quant::kTileBlocks + k;
      const simd::f32x4 xs = simd::splat_f32(x_.scales[block]);
      simd::i32x4 total = dots<k>(tile);
      [[maybe_unused]] const std::int32_t sum = Q::kOffset != 0 || Q::kHasMinimum ? first_sum(x_.sums[block]) + second_sum(x_.sums[block]) : 0;
      if constexpr (Q::kOffset != 0) total -= simd::splat_i32(Q::kOffset * sum);
      simd::f32x4 term = simd::to_f32(total) * (scales[k] * xs);
      if constexpr (Q::kHasMinimum) term -= simd::splat_f32(static_cast<float>(sum)) * (minimums[k] * xs);
      acc_ += term;
    });
  }

  // Of block K of a tile with its activations, lanes = rows.
  template <std::size_t K>
  LAYERSTREAM_INLINE simd::i32x4 dots(std::size_t tile) const {
    const std::int8_t* x = x_.q + (tile * quant::kTileBlocks + K) * quant::kActivationBlock;
    const auto x_first = D::load_values(x);
    const auto x_second = D::load_values(x + 16);
    typename D::template LaneSums<Q::kMaxCode> sums;
    simd::unroll<4>([&](auto r) __attribute__((always_inline)) {
      constexpr std::size_t kRow = r < R ? r : R - 1;  // a lane beyond the rows holds the last one again
      const quant::CodePair codes = Q::codes(tile_of(kRow, tile), std::integral_constant<std::size_t, K>{});
      sums.template add<r>(x_first, x_second, prepare_codes<Q, AnyDot>(codes.first), prepare_codes<Q, AnyDot>(codes.second));
    });
    return sums.rows();
  }

  WeightRows w_;
  Q8Columns x_;
  ReadAhead<R> ahead_;
  simd::f32x4 acc_ = {};
};

}  // namespace layerstream::kernels

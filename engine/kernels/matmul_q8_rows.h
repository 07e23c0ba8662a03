#pragma once
// SPDX-License-Identifier: MIT
// The product of matmul_q8.h for types that decode the scales of a quant block of 256 values for four rows at once: lanes are
// rows from the integer dot on, as in matmul_q8_blocks.h, so activations are loaded once for four rows, and nothing of the
// float side is transposed. Formula, order of sums and alignment are those of matmul_q8.h.

#include "kernels/matmul_q8.h"

namespace layerstream::kernels {

template <typename Q>
concept LanesAreRows = quant::RowScalesTrait<Q> && Q::kSubScale == quant::SubScale::per32 && Q::kLanesAreRows;

// Four rows.
template <LanesAreRows Q, typename AnyDot>
class Q8RowsKernel {
 public:
  // Writes y[0..3].
  static void run(const WeightRows& w, const Q8Columns& x, float* y) {
    Q8RowsKernel kernel(w, x);
    for (std::size_t tile = 0; tile < x.length / quant::kTile; tile += 2) {
      kernel.add_quant_block(tile);
    }
    simd::store_f32(y, kernel.acc_);
  }

 private:
  using D = ColumnDot<Q, AnyDot>;
  static constexpr std::size_t kBlockBytes = type_info(Q::kType).block_bytes;

  LAYERSTREAM_INLINE Q8RowsKernel(const WeightRows& w, const Q8Columns& x) : w_(w), x_(x), ahead_(w.data, w.row_bytes, w.end) {}

  // The quant block that is this tile and the next.
  LAYERSTREAM_INLINE void add_quant_block(std::size_t tile) {
    ahead_.template step<kBlockBytes>();
    const typename Q::RowScales scales = Q::row_scales(quant::tile_at<Q>(w_.data, tile).block, w_.row_bytes);
    simd::unroll<2>([&](auto half) __attribute__((always_inline)) {
      const std::size_t at = (tile + half) * quant::kTileBlocks;
      const simd::i32x4 sums = simd::dot_i16(simd::as_i16(simd::load_i32(x_.sums + at)), simd::splat_i16(1));
      simd::unroll<2>([&](auto pair) __attribute__((always_inline)) {
        constexpr std::size_t kFirst = 2 * pair;
        simd::i32x4 dots[2];
        pair_dots<half, kFirst>(tile, dots);
        simd::unroll<2>([&](auto i) __attribute__((always_inline)) { add_block<half, kFirst + i>(at, scales, sums, dots[i]); });
      });
    });
  }

  // Of blocks K and K + 1 of a tile, lanes = rows; two, because their codes often lie in the same bytes. The four pairs of a quant
  // block each load ahead for one row.
  template <std::size_t Half, std::size_t K>
  LAYERSTREAM_INLINE void pair_dots(std::size_t tile, simd::i32x4 (&dots)[2]) {
    simd::forget_loads();
    const std::int8_t* x = x_.q + (tile + Half) * quant::kTile + K * quant::kActivationBlock;
    const std::byte* block = quant::tile_at<Q>(w_.data, tile).block;
    typename D::template LaneSums<Q::kMaxCode> sums[2];
    simd::unroll<4>([&](auto r) __attribute__((always_inline)) {
      if constexpr (2 * Half + K / 2 == r) ahead_.template touch<kBlockBytes>(r);
      simd::unroll<2>([&](auto i) __attribute__((always_inline)) {
        const quant::CodePair codes = Q::codes({block + r * w_.row_bytes, Half}, std::integral_constant<std::size_t, K + i>{});
        const std::int8_t* values = x + i * quant::kActivationBlock;
        sums[i].template add<r>(D::load_values(values), D::load_values(values + 16), prepare_codes<Q, AnyDot>(codes.first), prepare_codes<Q, AnyDot>(codes.second));
        sums[i].template settle<r>();  // else the codes of both blocks of four rows are kept, in memory
      });
    });
    dots[0] = sums[0].rows();
    dots[1] = sums[1].rows();
  }

  // The term of one activation block. A 16-bit multiplication takes the minimum, since a sum of 32 values fits.
  template <std::size_t Half, std::size_t K>
  LAYERSTREAM_INLINE void add_block(std::size_t at, const typename Q::RowScales& scales, simd::i32x4 sums, simd::i32x4 dots) {
    constexpr std::size_t kRun = quant::kTileBlocks * Half + K;
    const simd::f32x4 xs = simd::splat_f32(x_.scales[at + K]);
    simd::f32x4 term = simd::to_f32(dots * scales.template sub_scales<kRun>().first) * (scales.scale * xs);
    if constexpr (Q::kHasMinimum) {
      const simd::i32x4 n = simd::dot_i16(simd::as_i16(simd::splat_lane<K>(sums)), simd::as_i16(scales.template minimum_lanes<kRun>()));
      term -= simd::to_f32(n) * (scales.minimum * xs);
    }
    acc_ += term;
    simd::hold(acc_);
  }

  WeightRows w_;
  Q8Columns x_;
  ReadAhead<4> ahead_;
  simd::f32x4 acc_ = {};
};

}  // namespace layerstream::kernels

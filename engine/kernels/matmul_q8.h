#pragma once
// SPDX-License-Identifier: MIT
// Quantised weights times one int8 activation column on the file layout, R rows at a time.
//   y[r] = sum over blocks b of float(I[r][b]) * (S[r][b] * xs[b])   (see quant/quant_traits.h)
// A tile is four activation blocks (128 values) of R rows: integer dots first (order free, exact), then four terms per row in one
// vector, lanes = blocks; a transpose turns lanes into rows, and the rows' accumulators take the four terms one after the
// other. So each row has one accumulator with one order, whatever R.
// Tail: a row of small quant blocks may end with 1..3 activation blocks; the missing terms are +0, which never changes a sum
// that started at +0. Alignment: none. Bound by integer arithmetic.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/activations.h"
#include "kernels/read_ahead.h"
#include "quant/quant_traits.h"
#include "simd/simd.h"

namespace layerstream::kernels {

// Quantised activations from one column, and one block, of an Activations on.
struct Q8Columns {
  const std::int8_t* q = nullptr;
  const float* scales = nullptr;
  const std::int32_t* sums = nullptr;
  std::size_t length = 0;  // values per column: the stride of q; scales and sums have length / 32
};

// R rows of weights at a stride.
struct WeightRows {
  const std::byte* data = nullptr;
  std::size_t row_bytes = 0;
  const std::byte* end = nullptr;  // of all rows to multiply: read_ahead.h
};

// The dot for one column, where D is the one for several. Signed codes are widened: without a byte dot in hardware that is fewer
// instructions than moving signs over to the activations, with one about as many, and it is exact for -128.
template <quant::IntegerTrait Q, typename D>
using ColumnDot = std::conditional_t<Q::kCodes == quant::Codes::signed8, simd::ExactDot, D>;

template <quant::IntegerTrait Q, typename D>
LAYERSTREAM_INLINE auto prepare_codes(simd::u8x16 codes) {
  if constexpr (Q::kCodes == quant::Codes::signed8) {
    return ColumnDot<Q, D>::prepare_signed(simd::as_i8(codes));
  } else {
    return ColumnDot<Q, D>::prepare_unsigned(codes);
  }
}

// body(tile, std::integral_constant of its blocks) for the tiles of a row; the last one may be a part, of constant size so that
// nothing in it is a loop.
template <quant::IntegerTrait Q, typename Body>
LAYERSTREAM_INLINE void for_tiles(std::size_t length, Body&& body) {
  const std::size_t n_blocks = length / quant::kActivationBlock;
  const std::size_t n_tiles = n_blocks / quant::kTileBlocks;
  constexpr std::integral_constant<std::size_t, quant::kTileBlocks> kWhole;
  constexpr std::size_t kStep = Q::kWholeBlocks ? type_info(Q::kType).block_elements / quant::kTile : 1;
  for (std::size_t tile = 0; tile < n_tiles; tile += kStep) {
    simd::unroll<kStep>([&](auto i) __attribute__((always_inline)) { body(tile + i, kWhole); });
  }
  if constexpr (type_info(Q::kType).block_elements < quant::kTile) {
    const std::size_t rest = n_blocks % quant::kTileBlocks;
    if (rest == 1) body(n_tiles, std::integral_constant<std::size_t, 1>{});
    if (rest == 2) body(n_tiles, std::integral_constant<std::size_t, 2>{});
    if (rest == 3) body(n_tiles, std::integral_constant<std::size_t, 3>{});
  }
}

// Of `count` activation blocks of a row.
template <quant::IntegerTrait Q>
constexpr std::size_t bytes_of(std::size_t count) {
  return count * quant::kActivationBlock * type_info(Q::kType).block_bytes / type_info(Q::kType).block_elements;
}

// R <= 4.
template <quant::IntegerTrait Q, std::size_t R, typename AnyDot>
class Q8Kernel {
 public:
  // Writes y[0..R-1].
  static void run(const WeightRows& w, const Q8Columns& x, float* y) {
    Q8Kernel kernel(w, x);
    for_tiles<Q>(x.length, [&](std::size_t tile, auto count) __attribute__((always_inline)) { kernel.template add_tile<count>(tile); });
    for (std::size_t r = 0; r < R; ++r) y[r] = kernel.acc_[r];
  }

 private:
  using D = ColumnDot<Q, AnyDot>;
  static constexpr bool kWide = Q::kSubScale == quant::SubScale::per16_wide;
  static constexpr bool kPer16 = Q::kSubScale == quant::SubScale::per16 || kWide;

  using SubScales = std::conditional_t<kWide, quant::WideSubScales, quant::SubScales>;

  // Integer dots of a row: per block, or per half block where sub-scales differ inside a block.
  struct Dots {
    simd::i32x4 whole[quant::kTileBlocks];
    simd::i32x4 second[kPer16 ? quant::kTileBlocks : 1];
  };

  LAYERSTREAM_INLINE Q8Kernel(const WeightRows& w, const Q8Columns& x) : w_(w), x_(x), ahead_(w.data, w.row_bytes, w.end) {}

  LAYERSTREAM_INLINE const std::byte* row(std::size_t r) const { return w_.data + r * w_.row_bytes; }

  // Block K of a tile of row r.
  template <std::size_t K>
  LAYERSTREAM_INLINE void add_block(std::size_t r, std::size_t tile, Dots& dots) {
    const std::int8_t* x = x_.q + (tile * quant::kTileBlocks + K) * quant::kActivationBlock;
    const auto x_first = D::load_values(x);
    const auto x_second = D::load_values(x + 16);
    const quant::CodePair codes = Q::codes(quant::tile_at<Q>(row(r), tile), std::integral_constant<std::size_t, K>{});
    const auto first = prepare_codes<Q, AnyDot>(codes.first);
    const auto second = prepare_codes<Q, AnyDot>(codes.second);
    if constexpr (kPer16) {
      dots.whole[K] = D::dot16(x_first, first);
      dots.second[K] = D::dot16(x_second, second);
    } else {
      dots.whole[K] = D::template dot32<Q::kMaxCode>(x_first, x_second, first, second);
    }
  }

  static LAYERSTREAM_INLINE SubScales sub_scales(quant::Tile tile, [[maybe_unused]] std::size_t count) {
    if constexpr (kWide) {
      return Q::wide_sub_scales(tile, count);
    } else if constexpr (Q::kSubScale != quant::SubScale::none) {
      return Q::sub_scales(tile);
    } else {
      return SubScales{};
    }
  }

  // I of the four blocks, as floats.
  static LAYERSTREAM_INLINE simd::f32x4 integers(const Dots& dots, simd::i32x4 sums, const SubScales& sub) {
    const auto& a = dots.whole;
    simd::i32x4 total = simd::lane_sums(a[0], a[1], a[2], a[3]);
    if constexpr (kPer16) {
      const auto& b = dots.second;
      simd::i32x4 second = simd::lane_sums(b[0], b[1], b[2], b[3]);
      if constexpr (Q::kOffset != 0) {
        total -= ((sums << 16) >> 16) * Q::kOffset;
        second -= (sums >> 16) * Q::kOffset;
      }
      if constexpr (kWide) {
        return simd::to_f32(total) * sub.first + simd::to_f32(second) * sub.second;
      } else {
        return simd::to_f32(total * sub.first + second * sub.second);
      }
    } else {
      if constexpr (Q::kOffset != 0) total -= simd::dot_i16(simd::as_i16(sums), simd::splat_i16(Q::kOffset));
      if constexpr (Q::kSubScale == quant::SubScale::per32) total = total * sub.first;
      return simd::to_f32(total);
    }
  }

  // The first Count blocks of a tile, row by row, so that few sums are alive at a time: the registers are sixteen.
  template <std::size_t Count>
  LAYERSTREAM_INLINE void add_tile(std::size_t tile) {
    simd::f32x4 terms[4] = {};
    ahead_.template step<bytes_of<Q>(Count)>();
    simd::unroll<R>([&](auto r) __attribute__((always_inline)) {
      ahead_.template touch<bytes_of<Q>(Count)>(r);
      Dots dots = {};
      simd::unroll<Count>([&](auto k) __attribute__((always_inline)) { add_block<k>(r, tile, dots); });
      terms[r] = row_terms<Count>(r, tile, dots);
      simd::hold(terms[r]);
    });
    simd::transpose(terms[0], terms[1], terms[2], terms[3]);
    acc_ = (((acc_ + terms[0]) + terms[1]) + terms[2]) + terms[3];
  }

  // The float side of row r, lanes = blocks.
  template <std::size_t Count>
  LAYERSTREAM_INLINE simd::f32x4 row_terms(std::size_t r, std::size_t tile, const Dots& dots) const {
    constexpr bool kFull = Count == quant::kTileBlocks;
    const quant::Tile weights = quant::tile_at<Q>(row(r), tile);
    const std::size_t at = tile * quant::kTileBlocks;
    const simd::f32x4 xs = kFull ? simd::load_f32(x_.scales + at) : simd::load_f32_part(x_.scales + at, Count);
    simd::i32x4 sums = {};
    if constexpr (Q::kOffset != 0 || Q::kHasMinimum) {
      sums = kFull ? simd::load_i32(x_.sums + at) : simd::load_i32_part(x_.sums + at, Count);
    }
    simd::f32x4 term = integers(dots, sums, sub_scales(weights, Count)) * (Q::scales(weights, Count) * xs);
    if constexpr (Q::kHasMinimum) {
      const simd::i32x4 n = simd::dot_i16(simd::as_i16(sums), Q::sub_minimums(weights));
      term -= simd::to_f32(n) * (Q::minimums(weights, Count) * xs);
    }
    return term;
  }

  WeightRows w_;
  Q8Columns x_;
  ReadAhead<R> ahead_;
  simd::f32x4 acc_ = {};
};

}  // namespace layerstream::kernels

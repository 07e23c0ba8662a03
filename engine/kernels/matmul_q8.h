#pragma once
// SPDX-License-Identifier: MIT
// Quantised weights times int8 activations on the file layout, 1..C columns by 1..R rows at a time.
//   y[c][r] = sum over blocks b of float(I[r][c][b]) * (S[r][b] * xs[c][b])   (see quant/quant_traits.h)
// A tile is four activation blocks (128 values) of R rows and C columns: integer dots first (order free, exact), then four
// terms per (row, column) in one vector, lanes = blocks; a transpose turns lanes into (row, column) pairs, and the
// pairs' accumulators take the four terms one after the other. So each pair has one accumulator with one order, whatever R, C.
// Tail: a row of small quant blocks may end with 1..3 activation blocks; the missing terms are +0, which never changes a sum
// that started at +0. Alignment: none. Bound by integer arithmetic from the first column on.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/activations.h"
#include "quant/quant_traits.h"
#include "simd/simd.h"

namespace layerstream::kernels {

// C activation columns beginning at one column of an Activations.
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
};

// The kernel of R x C. D is simd::Dot or simd::ExactDot.
template <quant::IntegerTrait Q, typename D, std::size_t R, std::size_t C>
class Q8Kernel {
 public:
  // Whether rows can hold a code that D cannot take exactly.
  static constexpr bool kWatchCodes = Q::kCodes == quant::Codes::signed8 && Q::kMaxCode > 127 && !D::kMinus128Exact;

  // Writes y[c * y_stride + r]. False: the rows hold such a code, nothing was written.
  static bool run(const WeightRows& w, const Q8Columns& x, float* y, std::size_t y_stride) {
    Q8Kernel kernel(w, x);
    const std::size_t n_blocks = x.length / quant::kActivationBlock;
    const std::size_t n_tiles = n_blocks / quant::kTileBlocks;
    for (std::size_t tile = 0; tile < n_tiles; ++tile) kernel.template add_tile<true>(tile, quant::kTileBlocks);
    if constexpr (kPartTiles) {
      if (const std::size_t rest = n_blocks % quant::kTileBlocks; rest != 0) kernel.template add_tile<false>(n_tiles, rest);
    }
    if constexpr (kWatchCodes) {
      if (D::any_top_bit(kernel.seen_)) return false;
    }
    simd::unroll<R * C>([&](auto i) { y[(i % C) * y_stride + i / C] = kernel.acc_[i / 4][i % 4]; });
    return true;
  }

 private:
  static constexpr std::size_t kGroups = (R * C + 3) / 4;  // accumulators, four (row, column) pairs each
  static constexpr bool kPartTiles = type_info(Q::kType).block_elements < quant::kTile;
  static constexpr bool kSigned = Q::kCodes == quant::Codes::signed8;
  static constexpr bool kWide = Q::kSubScale == quant::SubScale::per16_wide;
  static constexpr bool kPer16 = Q::kSubScale == quant::SubScale::per16 || kWide;

  using SubScales = std::conditional_t<kWide, quant::WideSubScales, quant::SubScales>;

  // Integer dots of one (row, column): per block, or per half block where sub-scales differ inside a block.
  struct Dots {
    simd::i32x4 whole[quant::kTileBlocks];
    simd::i32x4 second[kPer16 ? quant::kTileBlocks : 1];
  };

  LAYERSTREAM_INLINE Q8Kernel(const WeightRows& w, const Q8Columns& x) : w_(w), x_(x) {}

  LAYERSTREAM_INLINE const std::byte* row(std::size_t r) const { return w_.data + r * w_.row_bytes; }

  static LAYERSTREAM_INLINE auto prepare(simd::u8x16 codes) {
    if constexpr (kSigned) {
      return D::prepare_signed(simd::as_i8(codes));
    } else {
      return D::prepare_unsigned(codes);
    }
  }

  // Block K of the tile: decode the weights of each row once, use them for every column.
  template <std::size_t K>
  LAYERSTREAM_INLINE void add_block(std::size_t tile, Dots (&dots)[R * C]) {
    const std::int8_t* x = x_.q + (tile * quant::kTileBlocks + K) * quant::kActivationBlock;
    simd::unroll<R>([&](auto r) __attribute__((always_inline)) {
      const quant::CodePair codes = Q::codes(quant::tile_at<Q>(row(r), tile), std::integral_constant<std::size_t, K>{});
      const auto first = prepare(codes.first);
      const auto second = prepare(codes.second);
      if constexpr (kWatchCodes) seen_ |= D::top_bits(first) | D::top_bits(second);
      simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
        const std::int8_t* column = x + c * x_.length;
        Dots& out = dots[r * C + c];
        if constexpr (kPer16) {
          out.whole[K] = D::dot16(column, first);
          out.second[K] = D::dot16(column + 16, second);
        } else {
          out.whole[K] = D::template dot32<Q::kMaxCode>(column, first, second);
        }
      });
    });
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

  template <bool Full>
  LAYERSTREAM_INLINE void add_tile(std::size_t tile, std::size_t count) {
    Dots dots[R * C];
    if constexpr (Full) {
      simd::unroll<quant::kTileBlocks>([&](auto k) __attribute__((always_inline)) { add_block<k>(tile, dots); });
    } else {
      for (Dots& d : dots) d = Dots{};
      simd::unroll<quant::kTileBlocks - 1>([&](auto k) __attribute__((always_inline)) {
        if (k < count) add_block<k>(tile, dots);
      });
    }
    simd::f32x4 terms[kGroups * 4] = {};
    simd::unroll<R>([&](auto r) __attribute__((always_inline)) { row_terms<Full, r>(tile, count, dots, terms); });
    simd::unroll<kGroups>([&](auto g) __attribute__((always_inline)) {
      simd::f32x4* t = terms + 4 * g;
      simd::transpose(t[0], t[1], t[2], t[3]);
      acc_[g] = (((acc_[g] + t[0]) + t[1]) + t[2]) + t[3];
    });
  }

  // The float side of row r: terms of its C columns, lanes = blocks.
  template <bool Full, std::size_t r>
  LAYERSTREAM_INLINE void row_terms(std::size_t tile, std::size_t count, const Dots (&dots)[R * C], simd::f32x4* terms) const {
    const std::size_t stride = x_.length / quant::kActivationBlock;
    const quant::Tile weights = quant::tile_at<Q>(row(r), tile);
    const simd::f32x4 scales = Q::scales(weights, Full ? quant::kTileBlocks : count);
    const SubScales sub = sub_scales(weights, Full ? quant::kTileBlocks : count);
    simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
      const std::size_t at = c * stride + tile * quant::kTileBlocks;
      const simd::f32x4 xs = Full ? simd::load_f32(x_.scales + at) : simd::load_f32_part(x_.scales + at, count);
      simd::i32x4 sums = {};
      if constexpr (Q::kOffset != 0 || Q::kHasMinimum) {
        sums = Full ? simd::load_i32(x_.sums + at) : simd::load_i32_part(x_.sums + at, count);
      }
      simd::f32x4 term = integers(dots[r * C + c], sums, sub) * (scales * xs);
      if constexpr (Q::kHasMinimum) {
        const simd::f32x4 minimums = Q::minimums(weights, Full ? quant::kTileBlocks : count);
        const simd::i32x4 n = simd::dot_i16(simd::as_i16(sums), Q::sub_minimums(weights));
        term -= simd::to_f32(n) * (minimums * xs);
      }
      terms[r * C + c] = term;
    });
  }

  WeightRows w_;
  Q8Columns x_;
  simd::f32x4 acc_[kGroups] = {};
  simd::i8x16 seen_ = {};
};

}  // namespace layerstream::kernels

#pragma once
// SPDX-License-Identifier: MIT
// Quantised weights times many activation columns. Eight rows by up to 1024 values of weights are decoded once into a panel in
// which a lane is a row, and the panel meets all columns: no horizontal sums, one loop for every type (its form, below), and
// the decoding, expensive for small types, is shared. Integers, terms and their order are those of matmul_q8.h:
//   y[c][r] = y[c][r] + float(I) * (S * xs) [- float(N) * (M * xs)], one activation block after the other,
// with y itself the accumulator between panels, which is exact.
// Bound by integer arithmetic; a panel (8 KB and its scales) and four columns of it stay in the first-level cache.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/activations.h"
#include "kernels/matmul_q8.h"
#include "quant/quant_traits.h"
#include "simd/simd.h"

namespace layerstream::kernels {

inline constexpr std::size_t kPackedRows = 4;    // lanes of a group
inline constexpr std::size_t kPanelGroups = 2;
inline constexpr std::size_t kPanelTiles = 8;
inline constexpr std::size_t kPanelBlocks = kPanelTiles * quant::kTileBlocks;
// From so many columns on, decoding into a panel costs less than it saves (measured).
inline constexpr std::size_t kPackedColumns = 2;

// All that the product has to know of a type; several types share one form.
template <quant::Codes Codes, quant::SubScale SubScale, bool HasMinimum>
struct PackedForm {
  static constexpr bool kSigned = Codes == quant::Codes::signed8;
  static constexpr bool kHasMinimum = HasMinimum;
  static constexpr bool kWide = SubScale == quant::SubScale::per16_wide;
  static constexpr bool kPer16 = SubScale == quant::SubScale::per16 || kWide;
  static constexpr bool kSubScales = SubScale != quant::SubScale::none;
};
template <quant::IntegerTrait Q>
using FormOf = PackedForm<Q::kCodes, Q::kSubScale, Q::kHasMinimum>;

// One activation block of four rows.
template <typename Form>
struct PackedBlock {
  struct Nothing {};
  template <bool Present, typename T>
  using If = std::conditional_t<Present, T, Nothing>;

  simd::u8x16 codes[quant::kActivationBlock / 4];  // [j]: values 4j .. 4j + 3 of each row, row after row
  simd::f32x4 scale;                               // S
  [[no_unique_address]] If<Form::kSubScales && !Form::kWide, quant::SubScales> sub;
  [[no_unique_address]] If<Form::kWide, quant::WideSubScales> wide;
  [[no_unique_address]] If<Form::kHasMinimum, simd::f32x4> minimum;      // M
  [[no_unique_address]] If<Form::kHasMinimum, simd::i16x8> sub_minimum;  // n0, n1
};

LAYERSTREAM_INLINE void transpose(simd::u8x16& a, simd::u8x16& b, simd::u8x16& c, simd::u8x16& d) {
  simd::f32x4 rows[4] = {(simd::f32x4)a, (simd::f32x4)b, (simd::f32x4)c, (simd::f32x4)d};
  simd::transpose(rows[0], rows[1], rows[2], rows[3]);
  a = (simd::u8x16)rows[0], b = (simd::u8x16)rows[1], c = (simd::u8x16)rows[2], d = (simd::u8x16)rows[3];
}

// Decodes four rows: blocks [4 * first_tile, 4 * first_tile + n_blocks) of each. False: a code that simd::Dot cannot take.
template <quant::IntegerTrait Q>
[[nodiscard]] bool pack_rows(const std::byte* rows, std::size_t row_bytes, std::size_t first_tile, std::size_t n_blocks,
                             PackedBlock<FormOf<Q>>* out) {
  using Form = FormOf<Q>;
  using simd::u8x16;
  constexpr bool kWatchCodes = Form::kSigned && Q::kMaxCode > 127 && !simd::Dot::kMinus128Exact;
  [[maybe_unused]] u8x16 seen = {};
  for (std::size_t begin = 0; begin < n_blocks; begin += quant::kTileBlocks) {
    const std::size_t count = std::min(quant::kTileBlocks, n_blocks - begin);
    PackedBlock<Form>* blocks = out + begin;
    const std::size_t tile = first_tile + begin / quant::kTileBlocks;
    quant::Tile tiles[kPackedRows];
    for (std::size_t r = 0; r < kPackedRows; ++r) tiles[r] = quant::tile_at<Q>(rows + r * row_bytes, tile);
    // Lanes = blocks of one row become lanes = rows of one block.
    const auto store = [&](auto&& of_row, auto&& to_block) __attribute__((always_inline)) {
      u8x16 v[4] = {(u8x16)of_row(0), (u8x16)of_row(1), (u8x16)of_row(2), (u8x16)of_row(3)};
      transpose(v[0], v[1], v[2], v[3]);
      for (std::size_t k = 0; k < count; ++k) to_block(k, v[k]);
    };
    simd::unroll<quant::kTileBlocks>([&](auto k) __attribute__((always_inline)) {
      if (k >= count) return;
      u8x16 low[kPackedRows], high[kPackedRows];
      simd::unroll<kPackedRows>([&](auto r) __attribute__((always_inline)) {
        const quant::CodePair codes = Q::codes(tiles[r], k);
        low[r] = codes.first;
        high[r] = codes.second;
        if constexpr (kWatchCodes) seen |= simd::minus_128(low[r]) | simd::minus_128(high[r]);
      });
      transpose(low[0], low[1], low[2], low[3]);
      transpose(high[0], high[1], high[2], high[3]);
      for (std::size_t j = 0; j < 4; ++j) {
        blocks[k].codes[j] = low[j];
        blocks[k].codes[4 + j] = high[j];
      }
    });
    using simd::f32x4, simd::i32x4, simd::i16x8;
    store([&](std::size_t r) { return Q::scales(tiles[r], count); }, [&](std::size_t k, u8x16 v) { blocks[k].scale = (f32x4)v; });
    if constexpr (Form::kWide) {
      const auto sub = [&](std::size_t r) { return Q::wide_sub_scales(tiles[r], count); };
      store([&](std::size_t r) { return sub(r).first; }, [&](std::size_t k, u8x16 v) { blocks[k].wide.first = (f32x4)v; });
      store([&](std::size_t r) { return sub(r).second; }, [&](std::size_t k, u8x16 v) { blocks[k].wide.second = (f32x4)v; });
    } else if constexpr (Form::kSubScales) {
      const auto sub = [&](std::size_t r) { return Q::sub_scales(tiles[r]); };
      store([&](std::size_t r) { return sub(r).first; }, [&](std::size_t k, u8x16 v) { blocks[k].sub.first = (i32x4)v; });
      store([&](std::size_t r) { return sub(r).second; }, [&](std::size_t k, u8x16 v) { blocks[k].sub.second = (i32x4)v; });
    }
    if constexpr (Form::kHasMinimum) {
      store([&](std::size_t r) { return Q::minimums(tiles[r], count); }, [&](std::size_t k, u8x16 v) { blocks[k].minimum = (f32x4)v; });
      store([&](std::size_t r) { return Q::sub_minimums(tiles[r]); }, [&](std::size_t k, u8x16 v) { blocks[k].sub_minimum = (i16x8)v; });
    }
  }
  if constexpr (kWatchCodes) return !simd::any_bit(seen);
  return true;
}

// Four packed rows times C columns, added to y[c * y_stride + 0..3].
// x: the columns at the first block of the panel. offset: Q::kOffset.
template <typename Form, std::size_t C>
[[gnu::noinline]] void multiply_packed(const PackedBlock<Form>* blocks, std::size_t n_blocks, const Q8Columns& x, int offset, float* y,
                                       std::size_t y_stride) {
  using simd::Dot;
  const std::size_t stride = x.length / quant::kActivationBlock;
  simd::f32x4 acc[C];
  simd::unroll<C>([&](auto c) __attribute__((always_inline)) { acc[c] = simd::load_f32(y + c * y_stride); });
  // The offset of the codes comes off before the products come on.
  const simd::i32x4 first_offsets = simd::splat_i32(pack_sums(-offset, 0));
  const simd::i32x4 second_offsets = simd::splat_i32(pack_sums(0, -offset));
  const auto start = [&](typename Dot::RowSums* sums, std::size_t block, simd::i32x4 offsets) __attribute__((always_inline)) {
    simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
      if constexpr (Form::kSigned) {
        sums[c] = typename Dot::RowSums{};
      } else {
        sums[c] = Dot::start_rows(simd::dot_i16(simd::as_i16(simd::splat_i32(x.sums[c * stride + block])), simd::as_i16(offsets)));
      }
    });
  };
  const auto dot_half = [&](const PackedBlock<Form>& w, std::size_t block, auto half, typename Dot::RowSums* sums) __attribute__((always_inline)) {
    simd::unroll<4>([&](auto j) __attribute__((always_inline)) {
      constexpr std::size_t kStep = 4 * half + j;
      const auto step = [&](auto weights) __attribute__((always_inline)) {
        simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
          Dot::add_rows(sums[c], x.q + c * x.length + block * quant::kActivationBlock + 4 * kStep, weights);
        });
      };
      if constexpr (Form::kSigned) {
        step(Dot::prepare_signed(simd::as_i8(w.codes[kStep])));
      } else {
        step(Dot::prepare_unsigned(w.codes[kStep]));
      }
    });
  };
  constexpr std::integral_constant<std::size_t, 0> kFirst;
  constexpr std::integral_constant<std::size_t, 1> kSecond;
  for (std::size_t b = 0; b < n_blocks; ++b) {
    const PackedBlock<Form>& w = blocks[b];
    simd::f32x4 totals[C];
    typename Dot::RowSums sums[C];
    if constexpr (Form::kPer16) {
      simd::i32x4 first[C];
      start(sums, b, first_offsets);
      dot_half(w, b, kFirst, sums);
      simd::unroll<C>([&](auto c) __attribute__((always_inline)) { first[c] = Dot::rows(sums[c]); });
      start(sums, b, second_offsets);
      dot_half(w, b, kSecond, sums);
      simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
        const simd::i32x4 second = Dot::rows(sums[c]);
        if constexpr (Form::kWide) {
          totals[c] = simd::to_f32(first[c]) * w.wide.first + simd::to_f32(second) * w.wide.second;
        } else {
          totals[c] = simd::to_f32(first[c] * w.sub.first + second * w.sub.second);
        }
      });
    } else {
      start(sums, b, first_offsets | second_offsets);
      dot_half(w, b, kFirst, sums);
      dot_half(w, b, kSecond, sums);
      simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
        simd::i32x4 total = Dot::rows(sums[c]);
        if constexpr (Form::kSubScales) total = total * w.sub.first;
        totals[c] = simd::to_f32(total);
      });
    }
    simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
      const simd::f32x4 xs = simd::splat_f32(x.scales[c * stride + b]);
      simd::f32x4 term = totals[c] * (w.scale * xs);
      if constexpr (Form::kHasMinimum) {
        const simd::i32x4 n = simd::dot_i16(simd::as_i16(simd::splat_i32(x.sums[c * stride + b])), w.sub_minimum);
        term -= simd::to_f32(n) * (w.minimum * xs);
      }
      acc[c] = acc[c] + term;
    });
  }
  simd::unroll<C>([&](auto c) __attribute__((always_inline)) { simd::store_f32(y + c * y_stride, acc[c]); });
}

// All columns of one panel: groups of four rows, the first at y.
template <typename Form>
void multiply_panel_columns(const PackedBlock<Form> (*groups)[kPanelBlocks], std::size_t n_groups, std::size_t n_blocks, Q8Columns x,
                            std::size_t n_columns, int offset, float* y, std::size_t y_stride) {
  const auto columns = [&]<std::size_t C>(std::integral_constant<std::size_t, C>) {
    for (std::size_t g = 0; g < n_groups; ++g) {
      multiply_packed<Form, C>(groups[g], n_blocks, x, offset, y + g * kPackedRows, y_stride);
    }
    const std::size_t blocks = x.length / quant::kActivationBlock;
    x.q += C * x.length;
    x.scales += C * blocks;
    x.sums += C * blocks;
    y += C * y_stride;
  };
  std::size_t column = 0;
  for (; column + 4 <= n_columns; column += 4) columns(std::integral_constant<std::size_t, 4>{});
  if (column + 2 <= n_columns) columns(std::integral_constant<std::size_t, 2>{}), column += 2;
  if (column < n_columns) columns(std::integral_constant<std::size_t, 1>{});
}

}  // namespace layerstream::kernels

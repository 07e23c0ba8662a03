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
inline constexpr std::size_t kPanelRows = kPanelGroups * kPackedRows;
inline constexpr std::size_t kPanelTiles = 8;
inline constexpr std::size_t kPanelBlocks = kPanelTiles * quant::kTileBlocks;
// From so many columns on, decoding into a panel costs less than it saves (measured).
inline constexpr std::size_t kPackedColumns = 2;

// Codes in classes of bits (2, 4, 5, 6, 7, 8), for fewer forms.
constexpr int code_limit(int max_code) {
  for (const int limit : {3, 15, 31, 63, 127}) {
    if (max_code <= limit) return limit;
  }
  return 128;
}

// All that the product has to know of a type; several types share one form.
template <quant::Codes Codes, int MaxCode, quant::SubScale SubScale, bool HasMinimum>
struct PackedForm {
  static constexpr int kMaxCode = MaxCode;
  static constexpr bool kSigned = Codes == quant::Codes::signed8;
  static constexpr bool kHasMinimum = HasMinimum;
  static constexpr bool kWide = SubScale == quant::SubScale::per16_wide;
  static constexpr bool kPer16 = SubScale == quant::SubScale::per16 || kWide;
  static constexpr bool kSubScales = SubScale != quant::SubScale::none;
};
template <quant::IntegerTrait Q>
using FormOf = PackedForm<Q::kCodes, code_limit(Q::kMaxCode), Q::kSubScale, Q::kHasMinimum>;

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

// The codes of a tile of four rows. Returns all ones where a code is -128.
template <quant::IntegerTrait Q>
LAYERSTREAM_INLINE simd::u8x16 pack_codes(const quant::Tile (&tiles)[kPackedRows], std::size_t count, PackedBlock<FormOf<Q>>* out) {
  using simd::u8x16;
  u8x16 seen = {};
  simd::unroll<quant::kTileBlocks>([&](auto k) __attribute__((always_inline)) {
    if (k >= count) return;
    u8x16 first[kPackedRows], second[kPackedRows];
    simd::unroll<kPackedRows>([&](auto r) __attribute__((always_inline)) {
      const quant::CodePair codes = Q::codes(tiles[r], k);
      first[r] = codes.first;
      second[r] = codes.second;
      if constexpr (Q::kMaxCode > 127) seen |= simd::minus_128(first[r]) | simd::minus_128(second[r]);
    });
    transpose(first[0], first[1], first[2], first[3]);
    transpose(second[0], second[1], second[2], second[3]);
    for (std::size_t j = 0; j < 4; ++j) {
      out[k].codes[j] = first[j];
      out[k].codes[4 + j] = second[j];
    }
  });
  return seen;
}

// The factors of a tile of four rows: lanes = blocks of one row become lanes = rows of one block.
template <quant::IntegerTrait Q>
LAYERSTREAM_INLINE void pack_factors(const quant::Tile (&tiles)[kPackedRows], std::size_t count, PackedBlock<FormOf<Q>>* out) {
  using Form = FormOf<Q>;
  using simd::u8x16;
  const auto pack = [&]<typename V>(V (*of_row)(quant::Tile, std::size_t), auto&& of_block) __attribute__((always_inline)) {
    u8x16 v[4];
    simd::unroll<4>([&](auto r) __attribute__((always_inline)) { v[r] = (u8x16)of_row(tiles[r], count); });
    transpose(v[0], v[1], v[2], v[3]);
    for (std::size_t k = 0; k < count; ++k) of_block(out[k]) = (V)v[k];
  };
  using Block = PackedBlock<Form>;
  pack(+[](quant::Tile t, std::size_t n) { return Q::scales(t, n); }, [](Block& b) -> auto& { return b.scale; });
  if constexpr (Form::kWide) {
    pack(+[](quant::Tile t, std::size_t n) { return Q::wide_sub_scales(t, n).first; }, [](Block& b) -> auto& { return b.wide.first; });
    pack(+[](quant::Tile t, std::size_t n) { return Q::wide_sub_scales(t, n).second; }, [](Block& b) -> auto& { return b.wide.second; });
  } else if constexpr (Form::kSubScales) {
    pack(+[](quant::Tile t, std::size_t) { return Q::sub_scales(t).first; }, [](Block& b) -> auto& { return b.sub.first; });
    pack(+[](quant::Tile t, std::size_t) { return Q::sub_scales(t).second; }, [](Block& b) -> auto& { return b.sub.second; });
  }
  if constexpr (Form::kHasMinimum) {
    pack(+[](quant::Tile t, std::size_t n) { return Q::minimums(t, n); }, [](Block& b) -> auto& { return b.minimum; });
    pack(+[](quant::Tile t, std::size_t) { return Q::sub_minimums(t); }, [](Block& b) -> auto& { return b.sub_minimum; });
  }
}

// The factors of a quant block of four rows.
template <quant::RowScalesTrait Q>
LAYERSTREAM_INLINE void pack_block_factors(const std::byte* block, std::size_t row_bytes, PackedBlock<FormOf<Q>>* out) {
  const auto scales = Q::row_scales(block, row_bytes);
  simd::unroll<2 * quant::kTileBlocks>([&](auto k) __attribute__((always_inline)) {
    out[k].scale = scales.scale;
    out[k].sub = scales.template sub_scales<k>();
    if constexpr (Q::kHasMinimum) {
      out[k].minimum = scales.minimum;
      out[k].sub_minimum = scales.template sub_minimum<k>();
    }
  });
}

// Decodes four rows: blocks [4 * first_tile, 4 * first_tile + n_blocks) of each. As many bytes from `ahead` on are loaded into the
// caches. False: a code that D cannot take.
template <quant::IntegerTrait Q, typename D>
[[nodiscard]] bool pack_rows(const std::byte* rows, std::size_t row_bytes, std::size_t first_tile, std::size_t n_blocks, const std::byte* ahead,
                             PackedBlock<FormOf<Q>>* out) {
  simd::u8x16 seen = {};
  LoadInOrder next(ahead);
  for (std::size_t begin = 0; begin < n_blocks; begin += quant::kTileBlocks) {
    const std::size_t count = std::min(quant::kTileBlocks, n_blocks - begin);
    quant::Tile tiles[kPackedRows];
    for (std::size_t r = 0; r < kPackedRows; ++r) {
      tiles[r] = quant::tile_at<Q>(rows + r * row_bytes, first_tile + begin / quant::kTileBlocks);
    }
    if (count == quant::kTileBlocks) next.template next<kPackedRows * bytes_of<Q>(quant::kTileBlocks)>();
    seen |= pack_codes<Q>(tiles, count, out + begin);
    if constexpr (!quant::RowScalesTrait<Q>) {
      pack_factors<Q>(tiles, count, out + begin);
    } else if (tiles[0].half == 0) {
      pack_block_factors<Q>(tiles[0].block, row_bytes, out + begin);
    }
  }
  return D::kMinus128Exact || !simd::any_bit(seen);
}

// Four packed rows times C columns.
template <typename Form, std::size_t C, typename D>
class PackedKernel {
 public:
  // Adds to y[c * y_stride + 0..3]. x: the columns at the first block of the panel. offset: Q::kOffset.
  [[gnu::noinline]] static void run(const PackedBlock<Form>* blocks, std::size_t n_blocks, const Q8Columns& x, int offset, float* y,
                                    std::size_t y_stride) {
    const PackedKernel kernel(x, offset);
    simd::f32x4 acc[C];
    for_columns([&](auto c) __attribute__((always_inline)) { acc[c] = simd::load_f32(y + c * y_stride); });
    for (std::size_t b = 0; b < n_blocks; ++b) {
      simd::f32x4 totals[C];
      kernel.integers(blocks[b], b, totals);
      for_columns([&](auto c) __attribute__((always_inline)) { acc[c] = acc[c] + kernel.term(blocks[b], b, c, totals[c]); });
    }
    for_columns([&](auto c) __attribute__((always_inline)) { simd::store_f32(y + c * y_stride, acc[c]); });
  }

 private:
  using RowSums = D::template RowSums<Form::kMaxCode>;

  // The sums of x of a block are a pair of 16-bit numbers; so are the offsets that meet them.
  LAYERSTREAM_INLINE PackedKernel(const Q8Columns& x, int offset)
      : x_(x),
        stride_(x.length / quant::kActivationBlock),
        first_offset_(simd::splat_i32(pack_sums(-offset, 0))),
        second_offset_(simd::splat_i32(pack_sums(0, -offset))) {}

  template <typename Body>
  static LAYERSTREAM_INLINE void for_columns(Body&& body) {
    simd::unroll<C>(body);
  }

  LAYERSTREAM_INLINE simd::i16x8 x_sums(std::size_t block, std::size_t c) const {
    return simd::as_i16(simd::splat_i32(x_.sums[c * stride_ + block]));
  }

  // I of each column, as floats.
  LAYERSTREAM_INLINE void integers(const PackedBlock<Form>& w, std::size_t block, simd::f32x4* totals) const {
    RowSums sums[C];
    if constexpr (Form::kPer16) {
      simd::i32x4 first[C];
      start(block, first_offset_, sums);
      add_half<0, 0>(w, block, sums);
      for_columns([&](auto c) __attribute__((always_inline)) { first[c] = sums[c].template rows<4>(); });
      start(block, second_offset_, sums);
      add_half<1, 0>(w, block, sums);
      for_columns([&](auto c) __attribute__((always_inline)) {
        const simd::i32x4 second = sums[c].template rows<4>();
        if constexpr (Form::kWide) {
          totals[c] = simd::to_f32(first[c]) * w.wide.first + simd::to_f32(second) * w.wide.second;
        } else {
          totals[c] = simd::to_f32(first[c] * w.sub.first + second * w.sub.second);
        }
      });
    } else {
      start(block, first_offset_ | second_offset_, sums);
      add_half<0, 0>(w, block, sums);
      add_half<1, 4>(w, block, sums);
      for_columns([&](auto c) __attribute__((always_inline)) {
        simd::i32x4 total = sums[c].template rows<8>();
        if constexpr (Form::kSubScales) total = total * w.sub.first;
        totals[c] = simd::to_f32(total);
      });
    }
  }

  // The offset of the codes comes off before the products come on.
  LAYERSTREAM_INLINE void start(std::size_t block, simd::i32x4 offsets, RowSums* sums) const {
    for_columns([&](auto c) __attribute__((always_inline)) {
      if constexpr (Form::kSigned) {
        sums[c].start(simd::i32x4{});
      } else {
        sums[c].start(simd::dot_i16(x_sums(block, c), simd::as_i16(offsets)));
      }
    });
  }

  // Products of 16 values; Before: four-value products since start().
  template <std::size_t Half, std::size_t Before>
  LAYERSTREAM_INLINE void add_half(const PackedBlock<Form>& w, std::size_t block, RowSums* sums) const {
    simd::unroll<4>([&](auto j) __attribute__((always_inline)) {
      const auto weights = prepare(w.codes[4 * Half + j]);
      const std::int8_t* x = x_.q + block * quant::kActivationBlock + 16 * Half + 4 * j;
      for_columns([&](auto c) __attribute__((always_inline)) { sums[c].template add<Before + j>(x + c * x_.length, weights); });
    });
  }

  static LAYERSTREAM_INLINE auto prepare(simd::u8x16 codes) {
    if constexpr (Form::kSigned) {
      return D::prepare_signed(simd::as_i8(codes));
    } else {
      return D::prepare_unsigned(codes);
    }
  }

  LAYERSTREAM_INLINE simd::f32x4 term(const PackedBlock<Form>& w, std::size_t block, std::size_t c, simd::f32x4 total) const {
    const simd::f32x4 xs = simd::splat_f32(x_.scales[c * stride_ + block]);
    simd::f32x4 term = total * (w.scale * xs);
    if constexpr (Form::kHasMinimum) term -= simd::to_f32(simd::dot_i16(x_sums(block, c), w.sub_minimum)) * (w.minimum * xs);
    return term;
  }

  Q8Columns x_;
  std::size_t stride_;
  simd::i32x4 first_offset_;
  simd::i32x4 second_offset_;
};

// All columns of one panel: groups of four rows, the first at y.
template <typename Form, typename D>
void multiply_panel_columns(const PackedBlock<Form> (*groups)[kPanelBlocks], std::size_t n_groups, std::size_t n_blocks, Q8Columns x,
                            std::size_t n_columns, int offset, float* y, std::size_t y_stride) {
  const auto columns = [&]<std::size_t C>(std::integral_constant<std::size_t, C>) {
    for (std::size_t g = 0; g < n_groups; ++g) {
      PackedKernel<Form, C, D>::run(groups[g], n_blocks, x, offset, y + g * kPackedRows, y_stride);
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

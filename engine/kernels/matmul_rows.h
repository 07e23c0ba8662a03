#pragma once
// SPDX-License-Identifier: MIT
// Matrix products: which rows meet which columns, and in what tiles. The arithmetic is in matmul_q8.h (one column),
// matmul_packed.h (several) and matmul_f32.h; the order of sums does not depend on anything decided here.

#include <algorithm>
#include <utility>

#include "kernels/matmul_f32.h"
#include "kernels/matmul_group.h"
#include "kernels/matmul_packed.h"
#include "kernels/matmul_q8_blocks.h"
#include "kernels/matmul_q8_rows.h"
#include "quant/registry.h"

namespace layerstream::kernels {

// Rows of float weights that all columns pass over while they lie in the first-level cache.
inline constexpr std::size_t kFloatPanelBytes = 24 * 1024;

// Whether the kernel for four rows goes through them block by block; the others do it tile by tile, which long rows that come out
// of memory do not stand (read_ahead.h).
template <typename Q>
concept InStep = LanesAreRows<Q> || Block32Trait<Q>;

// R rows of one column.
template <quant::IntegerTrait Q, std::size_t R, typename D>
LAYERSTREAM_INLINE void multiply_column(const WeightRows& w, const Q8Columns& x, float* y) {
  if constexpr (R == 4 && LanesAreRows<Q>) {
    Q8RowsKernel<Q, D>::run(w, x, y);
  } else if constexpr (Block32Trait<Q>) {
    Q8BlocksKernel<Q, R, D>::run(w, x, y);
  } else {
    Q8Kernel<Q, R, D>::run(w, x, y);
  }
}

// Rows [begin, end) of one column after the other.
template <quant::IntegerTrait Q, typename D>
void multiply_columns(const Job& job, std::size_t begin, std::size_t end) {
  const std::byte* const last = job.w.row(end);
  const std::size_t length = job.x.length;
  const std::size_t blocks = length / quant::kActivationBlock;
  for (std::size_t c = 0; c < job.x.n_columns; ++c) {
    const Q8Columns x{job.x.q8 + c * length, job.x.q8_scales + c * blocks, job.x.q8_sums + c * blocks, length};
    float* y = job.y + c * job.y_stride;
    std::size_t row = begin;
    const auto groups_of = [&]<std::size_t R>(std::integral_constant<std::size_t, R>) {
      if (R > 1 && !InStep<Q> && R * job.w.row_bytes > ReadAhead<R>::kShortRows) return;
      for (; row + R <= end; row += R) multiply_column<Q, R, D>({job.w.row(row), job.w.row_bytes, last}, x, y + row);
    };
    groups_of(std::integral_constant<std::size_t, 4>{});
    if constexpr (!InStep<Q>) groups_of(std::integral_constant<std::size_t, 2>{});
    groups_of(std::integral_constant<std::size_t, 1>{});
  }
}

template <quant::FloatTrait Q, typename>
void multiply_columns(const Job& job, std::size_t begin, std::size_t end) {
  const auto tile = [&]<std::size_t R, std::size_t C>(std::index_sequence<R, C>, std::size_t row, std::size_t column) {
    FloatKernel<Q, R, C>::run(job.w.row(row), job.w.row_bytes, job.x.f32 + column * job.x.length, job.x.length,
                              job.y + column * job.y_stride + row, job.y_stride);
  };
  const std::size_t panel = std::max<std::size_t>(2, kFloatPanelBytes / std::max<std::size_t>(1, job.w.row_bytes));
  for (std::size_t first = begin; first < end; first += panel) {
    const std::size_t last = std::min(end, first + panel);
    std::size_t column = 0;
    for (; column + 2 <= job.x.n_columns; column += 2) {
      for (std::size_t row = first; row < last; ++row) tile(std::index_sequence<1, 2>{}, row, column);
    }
    if (column == job.x.n_columns) continue;
    std::size_t row = first;
    for (; row + 2 <= last; row += 2) tile(std::index_sequence<2, 1>{}, row, column);
    if (row < last) tile(std::index_sequence<1, 1>{}, row, column);
  }
}

// Rows [begin, end), a multiple of four, by way of panels. False: some rows hold a code that panels cannot take.
template <quant::IntegerTrait Q, typename D>
[[nodiscard]] bool multiply_packed_rows(const Job& job, std::size_t begin, std::size_t end) {
  using Form = FormOf<Q>;
  alignas(16) PackedBlock<Form> panel[kPanelGroups][kPanelBlocks];
  const std::size_t n_blocks = job.x.length / quant::kActivationBlock;
  for (std::size_t row = begin; row < end; row += kPanelRows) {
    const std::byte* const next_rows = job.w.row(row + kPanelRows);
    const bool has_next = row + 2 * kPanelRows <= end;
    const std::size_t n_groups = std::min(kPanelGroups, (end - row) / kPackedRows);
    float* y = job.y + row;
    for (std::size_t c = 0; c < job.x.n_columns; ++c) std::fill_n(y + c * job.y_stride, n_groups * kPackedRows, 0.0f);
    for (std::size_t block = 0; block < n_blocks; block += kPanelBlocks) {
      const std::size_t count = std::min(kPanelBlocks, n_blocks - block);
      for (std::size_t g = 0; g < n_groups; ++g) {
        const std::byte* rows = job.w.row(row + g * kPackedRows);
        // In the order of memory, whatever the order of packing: that is what processors foresee (read_ahead.h).
        const std::byte* ahead = has_next ? next_rows + bytes_of<Q>(kPanelRows * block + g * kPackedRows * count) : rows;
        if (!pack_rows<Q, D>(rows, job.w.row_bytes, block / quant::kTileBlocks, count, ahead, panel[g])) return false;
      }
      const Q8Columns x{job.x.q8 + block * quant::kActivationBlock, job.x.q8_scales + block, job.x.q8_sums + block, job.x.length};
      multiply_panel_columns<Form, D>(panel, n_groups, count, x, job.x.n_columns, Q::kOffset, y, job.y_stride);
    }
  }
  return true;
}

// A function of its own for each type: one with all of them is too much for optimisers, and a name to look for
// (scripts/check-opcodes.mjs).
template <quant::Trait Q, typename D>
[[gnu::noinline]] void multiply_matrix(const Job& job, std::size_t begin, std::size_t end) {
  if constexpr (quant::IntegerTrait<Q>) {
    if (job.x.n_columns >= kPackedColumns) {
      const std::size_t packed = begin + (end - begin) / kPackedRows * kPackedRows;
      if (multiply_packed_rows<Q, D>(job, begin, packed)) begin = packed;
    }
  }
  multiply_columns<Q, D>(job, begin, end);
}

template <typename Group>
bool multiply_group(const Job& job, std::size_t row_begin, std::size_t row_end) {
  return quant::with_quant<Group>(job.w.type, [&]<typename Q>(std::type_identity<Q>) {
    if (quant::IntegerTrait<Q> && job.dot == DotChoice::other) {
      multiply_matrix<Q, simd::OtherDot>(job, row_begin, row_end);
    } else {
      multiply_matrix<Q, simd::Dot>(job, row_begin, row_end);
    }
  });
}

}  // namespace layerstream::kernels

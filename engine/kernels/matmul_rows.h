#pragma once
// SPDX-License-Identifier: MIT
// Matrix products on the file layout: which rows meet which columns, and in what tiles. The arithmetic is in
// matmul_q8.h and matmul_f32.h; the order of sums does not depend on anything decided here.
//
// Rows are taken in panels that stay in the first-level cache while all column groups pass over them, so weights are read
// from memory once, whatever the number of columns.

#include <algorithm>

#include "kernels/matmul_f32.h"
#include "kernels/matmul_group.h"
#include "kernels/matmul_q8.h"
#include "quant/registry.h"

namespace layerstream::kernels {

inline constexpr std::size_t kPanelBytes = 24 * 1024;

template <quant::IntegerTrait Q, std::size_t R, std::size_t C>
void multiply_tile(const Job& job, std::size_t row, std::size_t column) {
  const std::size_t length = job.x.length;
  const std::size_t blocks = length / quant::kActivationBlock;
  const WeightRows w{job.w.row(row), job.w.row_bytes};
  const Q8Columns x{job.x.q8 + column * length, job.x.q8_scales + column * blocks, job.x.q8_sums + column * blocks, length};
  float* y = job.y + column * job.y_stride + row;
  using Kernel = Q8Kernel<Q, simd::Dot, R, C>;
  if (Kernel::run(w, x, y, job.y_stride)) return;
  if constexpr (Kernel::kWatchCodes) Q8Kernel<Q, simd::ExactDot, R, C>::run(w, x, y, job.y_stride);
}

template <quant::FloatTrait Q, std::size_t R, std::size_t C>
void multiply_tile(const Job& job, std::size_t row, std::size_t column) {
  FloatKernel<Q, R, C>::run(job.w.row(row), job.w.row_bytes, job.x.f32 + column * job.x.length, job.x.length,
                            job.y + column * job.y_stride + row, job.y_stride);
}

// Rows at a time: several rows share the loads of x and overlap the chains of additions, until the registers run out.
// With more columns the columns do that. Measured; which number is best depends on the back end.
template <quant::Trait Q, std::size_t C>
constexpr std::size_t rows_at_once() {
  if constexpr (C > 1) {
    return 1;
  } else if constexpr (quant::FloatTrait<Q>) {
    return 2;
  } else {
    return Q::kCodes == quant::Codes::signed8 ? simd::Dot::kRowsSigned : simd::Dot::kRowsUnsigned;
  }
}

template <quant::Trait Q, std::size_t C>
void multiply_rows(const Job& job, std::size_t begin, std::size_t end, std::size_t column) {
  constexpr std::size_t kRows = rows_at_once<Q, C>();
  std::size_t row = begin;
  for (; row + kRows <= end; row += kRows) multiply_tile<Q, kRows, C>(job, row, column);
  if constexpr (kRows > 1) {
    for (; row < end; ++row) multiply_tile<Q, 1, C>(job, row, column);
  }
}

// A function of its own for each type: one with all of them is too much for optimisers, and a name to look for
// (scripts/check-opcodes.mjs).
template <quant::Trait Q>
[[gnu::noinline]] void multiply_panel(const Job& job, std::size_t begin, std::size_t end) {
  std::size_t column = 0;
  if constexpr (quant::IntegerTrait<Q>) {
    for (; column + 4 <= job.x.n_columns; column += 4) multiply_rows<Q, 4>(job, begin, end, column);
  }
  for (; column + 2 <= job.x.n_columns; column += 2) multiply_rows<Q, 2>(job, begin, end, column);
  for (; column < job.x.n_columns; ++column) multiply_rows<Q, 1>(job, begin, end, column);
}

template <typename Group>
bool multiply_group(const Job& job, std::size_t row_begin, std::size_t row_end) {
  return quant::with_quant<Group>(job.w.type, [&]<typename Q>(std::type_identity<Q>) {
    const std::size_t panel = std::max<std::size_t>(4, kPanelBytes / std::max<std::size_t>(1, job.w.row_bytes) / 4 * 4);
    for (std::size_t row = row_begin; row < row_end; row += panel) {
      multiply_panel<Q>(job, row, std::min(row_end, row + panel));
    }
  });
}

}  // namespace layerstream::kernels

// SPDX-License-Identifier: MIT
#include "model/script.h"

#include <algorithm>

#include "kernels/matmul.h"
#include "kernels/vector_ops.h"

namespace layerstream::model {
namespace {

// Rows a thread takes at a time: few enough that a slow core does not stall the rest, a multiple of the row group.
std::size_t row_grain(std::size_t rows, std::uint32_t n_threads) {
  const std::size_t share = rows / (std::size_t{n_threads} * 4);
  return std::max<std::size_t>(8, share / 8 * 8);
}

bool needs_int8(const Matrix& m) { return m && kernels::activation_kind(m.type) == quant::ActivationKind::q8; }

void scale_and_bias(const Matrix& m, std::size_t row_begin, std::size_t row_end, std::size_t first_row, std::size_t n, float* y, std::size_t y_stride) {
  const float* bias = m.bias_data();
  if (!m.scale && bias == nullptr) return;
  const float scale = m.scale_value();
  for (std::size_t e = 0; e < n; ++e) {
    float* row = y + e * y_stride;
    if (m.scale) {
      for (std::size_t r = row_begin; r < row_end; ++r) row[r] *= scale;
    }
    if (bias != nullptr) {
      for (std::size_t r = row_begin; r < row_end; ++r) row[r] += bias[first_row + r];
    }
  }
}

}  // namespace

Input Script::input(const float* values, std::size_t length, std::size_t n, std::initializer_list<const Matrix*> matrices) {
  const bool quantise = std::any_of(matrices.begin(), matrices.end(), [](const Matrix* m) { return needs_int8(*m); });
  if (quantise) {
    line(Operation::quantize, n * length, [&] {
      const Quantized& q = batch_.quantized;
      pool_.parallel_for(n, 1, [&](std::size_t begin, std::size_t end, std::uint32_t) {
        for (std::size_t e = begin; e < end; ++e) {
          kernels::quantize_activations(values + e * length, length, q.values + e * length, q.scales + e * (length / 32), q.sums + e * (length / 32));
        }
      });
    });
  }
  return Input{values, length, n};
}

const std::byte* Script::fetch(const Matrix& m, std::uint32_t unit) {
  const stream::UnitId id = m.first_unit + unit * m.unit_stride;
  residency_.set_cursor(id);
  const std::byte* data = residency_.data(id);
  if (data == nullptr) {
    residency_.want(id);
    halt_ = Halt::needs_weights;
  }
  return data;
}

// y points at the value of the unit's first row.
void Script::multiply(const Matrix& m, std::uint32_t unit, const std::byte* data, const Input& x, float* y, std::size_t y_stride) {
  const std::size_t rows = m.unit_rows(unit);
  const runtime::Timed timed(profile_, m.type, rows * m.columns * x.n);
  const MatView view{data, m.type, rows, m.columns, m.row_bytes};
  const Quantized& q = batch_.quantized;
  const bool int8 = needs_int8(m);
  const kernels::Activations activations{
      .f32 = x.values, .q8 = int8 ? q.values : nullptr, .q8_scales = q.scales, .q8_sums = q.sums, .n_columns = x.n, .length = x.length};
  pool_.parallel_for(rows, row_grain(rows, pool_.n_threads()), [&](std::size_t begin, std::size_t end, std::uint32_t) {
    kernels::matmul(view, activations, begin, end, y, y_stride);
    scale_and_bias(m, begin, end, unit * m.rows_per_unit, x.n, y, y_stride);
  });
  residency_.release(m.first_unit + unit * m.unit_stride);
}

void Script::matmul(const Matrix& m, const Input& x, float* y) {
  if (!m || !enter()) return;
  while (unit_ < m.n_units) {
    if (halt_ != Halt::none) return;
    const std::byte* data = fetch(m, unit_);
    if (data == nullptr) return;
    multiply(m, unit_, data, x, y + unit_ * m.rows_per_unit, m.rows);
    const std::uint64_t work = m.unit_rows(unit_) * m.columns * x.n;
    ++unit_;
    spend(work);
  }
  finish_line();
}

void Script::gated(const Matrix& gate, const Matrix& up, Activation activation, const Input& x, float* gate_slice, float* hidden) {
  if (!enter()) return;
  const std::uint32_t per_slice = gate ? 2 : 1;
  while (unit_ < per_slice * up.n_units) {
    if (halt_ != Halt::none) return;
    const std::uint32_t slice = unit_ / per_slice;
    const bool is_gate = gate && unit_ % 2 == 0;
    const Matrix& m = is_gate ? gate : up;
    const std::byte* data = fetch(m, slice);
    if (data == nullptr) return;
    const std::size_t rows = up.unit_rows(slice);
    float* slice_of_hidden = hidden + slice * up.rows_per_unit;
    multiply(m, slice, data, x, is_gate ? gate_slice : slice_of_hidden, is_gate ? rows : up.rows);
    if (!is_gate) {
      const runtime::Timed timed(profile_, Operation::activation);
      pool_.parallel_for(x.n, 1, [&](std::size_t begin, std::size_t end, std::uint32_t) {
        for (std::size_t e = begin; e < end; ++e) {
          float* h = slice_of_hidden + e * up.rows;
          const float* g = gate_slice + e * rows;
          if (!gate) {
            activation == Activation::gelu ? kernels::gelu(h, rows) : kernels::silu(h, rows);
          } else {
            activation == Activation::gelu ? kernels::gelu_multiply(g, h, h, rows) : kernels::silu_multiply(g, h, h, rows);
          }
        }
      });
    }
    ++unit_;
    spend(rows * m.columns * x.n);
  }
  finish_line();
}

void Script::want_all(const Matrix& m) {
  for (std::uint32_t unit = 0; unit < m.n_units; ++unit) residency_.want_soon(m.first_unit + unit * m.unit_stride);
}

}  // namespace layerstream::model

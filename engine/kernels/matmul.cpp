// SPDX-License-Identifier: MIT
// Matrix products by the type of the weights; the loops are in matmul_rows.h.

#include "kernels/matmul.h"

#include <algorithm>
#include <limits>

#include "kernels/matmul_group.h"
#include "quant/registry.h"

namespace layerstream::kernels {

bool is_supported(QuantType type) {
  return quant::with_quant(type, [](auto) {});
}

quant::ActivationKind activation_kind(QuantType type) {
  quant::ActivationKind kind = quant::ActivationKind::f32;
  (void)quant::with_quant(type, [&]<typename Q>(std::type_identity<Q>) { kind = Q::kActivation; });
  return kind;
}

void matmul(const MatView& w, const Activations& x, std::size_t row_begin, std::size_t row_end, float* y, std::size_t y_stride,
            DotChoice dot) {
  const Job job{w, x, y, y_stride, dot};
  const bool known = multiply_group<quant::FloatTypes>(job, row_begin, row_end) || multiply_group<quant::Blocks32Types>(job, row_begin, row_end) ||
                     multiply_group<quant::KTypes>(job, row_begin, row_end) || multiply_group<quant::FewBitTypes>(job, row_begin, row_end) ||
                     multiply_group<quant::GridTypes>(job, row_begin, row_end);
  if (known) return;
  // The caller should have asked is_supported; NaN cannot be mistaken for a result.
  for (std::size_t c = 0; c < x.n_columns; ++c) {
    for (std::size_t r = row_begin; r < row_end; ++r) y[c * y_stride + r] = std::numeric_limits<float>::quiet_NaN();
  }
}

void dequantize_row(QuantType type, const std::byte* row, float* out, std::size_t columns) {
  const bool known = quant::with_quant(
      type, [&]<typename Q>(std::type_identity<Q>) { quant::dequantize_row<Q>(row, out, columns); });
  if (!known) std::fill(out, out + columns, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace layerstream::kernels

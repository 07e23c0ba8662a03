#pragma once
// SPDX-License-Identifier: MIT
// y[c][r] = sum over i of w[r][i] * x[c][i], for rows r of a matrix (or of a slice of one) and activation columns c.
//
// The reduction order is defined per row and type alone (bit-exactness, docs/architecture.md):
//  - f32 kinds: 16 partial sums, p[i mod 16] += w[i]*x[i] in ascending i, multiply then add; then
//    q[j] = (p[j] + p[j+4]) + (p[j+8] + p[j+12]) for j = 0..3, result (q[0] + q[2]) + (q[1] + q[3]).
//  - q8 kinds: one f32 accumulator per row, one term per activation block (32 values) in ascending order:
//    acc = acc + float(I) * (S * xs), or acc = acc + (float(I) * (S * xs) - float(N) * (M * xs)) for types with minimums;
//    I and N the exact integers, S and M the float factors of quant/quant_traits.h, xs the activation scale. float(I) rounds
//    to nearest even; only with wide sub-scales (NVFP4) is I ever too large to be exact.
// Scales are whatever the file holds: subnormal ones count in full, infinite or NaN ones give a result that is not finite
// (which of infinity and NaN, and the bits of a NaN, are not defined).
// Number of columns, tiling, threads and layout never change a bit.

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/mat_view.h"
#include "kernels/activations.h"
#include "kernels/dot_choice.h"
#include "quant/quant_traits.h"

namespace layerstream::kernels {

[[nodiscard]] bool is_supported(QuantType type);
[[nodiscard]] quant::ActivationKind activation_kind(QuantType type);

// Rows [row_begin, row_end) of w. y[c * y_stride + r] for the same r. w.columns == x.length; x has the form that
// activation_kind(w.type) names. No allocation, no threads. dot: any choice gives the same bits.
void matmul(const MatView& w, const Activations& x, std::size_t row_begin, std::size_t row_end, float* y, std::size_t y_stride,
            DotChoice dot = preferred_dot());

// One row as floats (embedding look-up, norms). out [columns]; exact.
void dequantize_row(QuantType type, const std::byte* row, float* out, std::size_t columns);

namespace ref {
// The scalar oracle: same integers, same order, no SIMD; equal bit for bit.
void matmul(const MatView& w, const Activations& x, std::size_t row_begin, std::size_t row_end, float* y, std::size_t y_stride);
}  // namespace ref

}  // namespace layerstream::kernels

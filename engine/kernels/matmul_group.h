#pragma once
// SPDX-License-Identifier: MIT
// The matrix products of one group of weight types (quant/registry.h). Each group is instantiated in a file of its own,
// matmul_*.cpp, so that they compile side by side.

#include <cstddef>

#include "base/mat_view.h"
#include "kernels/activations.h"
#include "kernels/dot_choice.h"

namespace layerstream::kernels {

// What a product works on: y[c * y_stride + r] for rows r of w and columns c of x.
struct Job {
  const MatView& w;
  const Activations& x;
  float* y;
  std::size_t y_stride;
  DotChoice dot;
};

// Rows [row_begin, row_end). False: w.type is not in the group, nothing was written.
template <typename Group>
[[nodiscard]] bool multiply_group(const Job& job, std::size_t row_begin, std::size_t row_end);

}  // namespace layerstream::kernels

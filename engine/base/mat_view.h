#pragma once
// SPDX-License-Identifier: MIT
// A matrix, or some rows of one, where it lies in memory. A view: whoever made it owns the bytes.

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace layerstream {

// [rows, columns], row-major: y[r] = sum over c of w[r][c] * x[c]. Rows are whole quant blocks
// one after the other, exactly as in the file; no alignment is promised.
struct MatView {
  const std::byte* data = nullptr;
  QuantType type = QuantType::f32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t row_bytes = 0;

  [[nodiscard]] const std::byte* row(std::size_t r) const { return data + r * row_bytes; }
};

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// The tensor table of a GGUF header: reads rows, then gives each tensor its place in the file.
// A row is checked as it is read (name, dims, type, size), places when all rows are known (bounds,
// overlaps, duplicate names). Used by the header parser only.

#include <cstdint>
#include <string>
#include <vector>

#include "gguf/cursor.h"
#include "gguf/header.h"

namespace layerstream::gguf {

// The next row. `offset` is still relative to the tensor data; `name` is a view into the cursor's bytes.
[[nodiscard]] Step<TensorInfo> read_tensor_row(Cursor& cursor);

struct DataArea {
  std::uint64_t begin = 0;      // of the tensor data in the file
  std::uint64_t alignment = 0;  // of every tensor in it
  std::uint64_t file_bytes = 0;
};

// Turns the relative offsets into absolute ones and checks all tensors against the file and each other.
[[nodiscard]] Result<void> place_tensors(std::vector<TensorInfo>& tensors, const DataArea& area);

}  // namespace layerstream::gguf

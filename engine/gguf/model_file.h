#pragma once
// SPDX-License-Identifier: MIT
// One model as one or more GGUF parts ("-00001-of-0000N.gguf"): one metadata (that of part 1), one
// tensor table over all parts with `part` set.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/header.h"

namespace layerstream::gguf {

class ModelFile {
 public:
  // Takes all parts in order. Checks split.no / split.count / split.tensors.count, gaps, duplicates across parts.
  // A single unsplit header is fine. Wrong number of parts: bad_argument; parts that contradict each other: bad_file.
  [[nodiscard]] static Result<ModelFile> create(std::vector<Header> parts);

  [[nodiscard]] const Metadata& metadata() const { return parts_.front().metadata(); }
  [[nodiscard]] std::span<const Header> parts() const { return parts_; }
  [[nodiscard]] std::span<const TensorInfo> tensors() const { return tensors_; }
  [[nodiscard]] const TensorInfo* find_tensor(std::string_view name) const;  // nullptr if absent

 private:
  std::vector<Header> parts_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::size_t> by_name_;  // positions in tensors_, ordered by name
};

// Number of parts the header of part 1 announces (1 when not split).
[[nodiscard]] Result<std::uint32_t> split_count(const Header& first);

// "x-00001-of-00003.gguf", 2, 3 -> "x-00002-of-00003.gguf"; bad_argument if the name is not of that form for part 1.
[[nodiscard]] Result<std::string> split_part_name(std::string_view first_name, std::uint32_t part_number, std::uint32_t count);

}  // namespace layerstream::gguf

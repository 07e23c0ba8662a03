#pragma once
// SPDX-License-Identifier: MIT
// The header of one GGUF file (or of one part of a split model): metadata and tensor table.
// Reads versions 2 and 3, little-endian. Every byte is taken as hostile: all sizes are checked
// 64-bit arithmetic against the length of the file (GGUF specification; docs/formats/gguf.md).

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "gguf/metadata.h"

namespace layerstream::gguf {

struct TensorInfo {
  std::string_view name;
  QuantType type = QuantType::f32;
  std::uint32_t n_dims = 0;
  // Row length first, as in the file: dims[0] = columns ("in"), dims[1] = rows ("out"), dims[2] = experts. Unused = 1.
  std::uint64_t dims[4] = {1, 1, 1, 1};
  std::uint64_t offset = 0;  // absolute, from the start of its file
  std::uint64_t bytes = 0;
  std::uint32_t part = 0;    // which file of a split model
};

// The bytes of the file that were not yet there when a parse stopped.
struct NeedMore {
  std::uint64_t prefix_bytes = 0;  // parse again with at least this long a prefix
};

class Header {
 public:
  // Parses the header from the first bytes of a file of `file_bytes` bytes. If the prefix ends inside the
  // header: NeedMore, which is at least twice the prefix (or all that a header may take of the file), so that
  // repeated calls cost linear time overall. A longer prefix than the header is fine.
  // The result owns a copy of the header bytes; views in it live as long as it does (also when moved).
  [[nodiscard]] static Result<std::variant<Header, NeedMore>> parse(std::span<const std::byte> prefix, std::uint64_t file_bytes);

  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] std::span<const TensorInfo> tensors() const { return tensors_; }  // in file order
  [[nodiscard]] std::uint64_t header_bytes() const { return header_bytes_; }      // up to the tensor data, unpadded
  // Aligned start of the tensor data; the end of the file if that comes first (no tensors).
  [[nodiscard]] std::uint64_t data_offset() const { return data_offset_; }
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  friend class HeaderParser;
  std::uint32_t version_ = 0;
  std::unique_ptr<std::byte[]> storage_;
  Metadata metadata_;
  std::vector<TensorInfo> tensors_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t data_offset_ = 0;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace layerstream::gguf

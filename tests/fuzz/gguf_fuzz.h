#pragma once
// SPDX-License-Identifier: MIT
// What must hold for the GGUF reader whatever the bytes are. Called by the libFuzzer program (gguf_fuzz.cpp)
// and, over seeded mutations, by the unit tests. Memory errors are the sanitizers' business.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gguf/header.h"
#include "gguf/model_file.h"

namespace layerstream::test {

using ParseResult = Result<std::variant<gguf::Header, gguf::NeedMore>>;

// Parses from a heap block of exactly the prefix's size, so that reading past it is seen by ASan.
[[nodiscard]] inline ParseResult parse_exact(std::span<const std::byte> prefix, std::uint64_t file_bytes) {
  const std::unique_ptr<std::byte[]> copy(new std::byte[prefix.size()]);
  std::copy(prefix.begin(), prefix.end(), copy.get());
  return gguf::Header::parse({copy.get(), prefix.size()}, file_bytes);
}

// An error a user can be shown: one line of printable ASCII, not longer than a few hundred bytes.
[[nodiscard]] inline std::string check_error(const Error& error) {
  if (error.code == ErrorCode::internal) return "an internal error: " + error.message;
  if (error.message.empty() || error.message.size() > 1000) return "a message of " + std::to_string(error.message.size()) + " bytes";
  for (const char c : error.message) {
    if (c < 0x20 || c > 0x7e) return "a message with unprintable bytes";
  }
  return "";
}

// Calls every getter for every key; the sum keeps the calls from being optimised away.
[[nodiscard]] inline std::size_t touch_metadata(const gguf::Metadata& metadata) {
  std::size_t sum = 0;
  const auto count = [&](const auto& result) { sum += result.has_value() ? 1 : result.error().message.size(); };
  for (const auto& [key, value] : metadata.pairs()) {
    count(metadata.get_uint(key));
    count(metadata.get_int(key));
    count(metadata.get_float(key));
    count(metadata.get_bool(key));
    count(metadata.get_int_array(key));
    count(metadata.get_float_array(key));
    if (const auto text = metadata.get_string(key); text && *text) sum += std::size_t(std::count((*text)->begin(), (*text)->end(), 'a'));
    if (const auto texts = metadata.get_string_array(key); texts && *texts) {
      for (const std::string_view text : **texts) sum += std::size_t(std::count(text.begin(), text.end(), 'a'));
    }
    sum += value.bytes.size();
  }
  return sum;
}

// Everything a header promises about itself; "" if it holds.
[[nodiscard]] inline std::string check_header(const gguf::Header& header) {
  if (header.version() != 2 && header.version() != 3) return "version " + std::to_string(header.version());
  if (header.header_bytes() > header.data_offset() || header.data_offset() > header.file_bytes()) return "areas out of order";
  std::vector<gguf::TensorInfo> with_bytes;
  for (const gguf::TensorInfo& tensor : header.tensors()) {
    if (tensor.name.empty() || tensor.name.size() > 63) return "a tensor name of " + std::to_string(tensor.name.size()) + " bytes";
    if (tensor.bytes == 0) continue;
    if (tensor.offset < header.data_offset() || tensor.offset > header.file_bytes()) return "a tensor outside the data";
    if (tensor.bytes > header.file_bytes() - tensor.offset) return "a tensor beyond the file";
    std::uint64_t rows = 1;
    for (int i = 1; i < 4; ++i) rows *= tensor.dims[i];
    if (row_bytes(tensor.type, tensor.dims[0]) * rows != tensor.bytes) return "a tensor whose bytes are not those of its dims";
    with_bytes.push_back(tensor);
  }
  std::ranges::sort(with_bytes, {}, &gguf::TensorInfo::offset);
  for (std::size_t i = 1; i < with_bytes.size(); ++i) {
    if (with_bytes[i - 1].offset + with_bytes[i - 1].bytes > with_bytes[i].offset) return "overlapping tensors";
  }
  return touch_metadata(header.metadata()) == 0 && !header.metadata().pairs().empty() ? "nothing touched" : "";
}

[[nodiscard]] inline std::string check_model(gguf::Header header) {
  const std::size_t n_tensors = header.tensors().size();
  std::vector<gguf::Header> parts;
  parts.push_back(std::move(header));
  const auto model = gguf::ModelFile::create(std::move(parts));
  if (!model) return check_error(model.error());
  if (model->tensors().size() != n_tensors) return "a model with other tensors than its part";
  for (const gguf::TensorInfo& tensor : model->tensors()) {
    if (model->find_tensor(tensor.name) != &tensor) return "a tensor that is not found by its name";
  }
  return "";
}

// A shorter prefix of the same file says the same, or that it is too short.
[[nodiscard]] inline std::string check_cut(std::span<const std::byte> file, std::size_t cut, const ParseResult& whole) {
  const ParseResult part = parse_exact(file.first(cut), file.size());
  if (!part) {
    if (whole || whole.error().code != part.error().code || whole.error().message != part.error().message) {
      return "a prefix fails otherwise than the file: " + part.error().message;
    }
    return "";
  }
  if (const auto* more = std::get_if<gguf::NeedMore>(&*part)) {
    if (more->prefix_bytes <= cut || more->prefix_bytes > file.size()) return "a NeedMore of " + std::to_string(more->prefix_bytes);
    if (more->prefix_bytes < std::min<std::uint64_t>(2 * std::uint64_t{cut}, file.size())) return "a NeedMore that grows too little";
    return whole && cut >= std::get<gguf::Header>(*whole).header_bytes() ? "NeedMore although the header is there" : "";
  }
  if (!whole || cut < std::get<gguf::Header>(*whole).header_bytes()) return "a header out of too few bytes";
  return std::get<gguf::Header>(*part).header_bytes() == std::get<gguf::Header>(*whole).header_bytes() ? "" : "another header";
}

// The whole contract for the bytes of one file; "" if it holds, otherwise what does not.
[[nodiscard]] inline std::string check_gguf_file(std::span<const std::byte> file) {
  ParseResult whole = parse_exact(file, file.size());
  if (whole && std::holds_alternative<gguf::NeedMore>(*whole)) return "NeedMore although the whole file is there";
  std::vector<std::size_t> cuts = {0, 1, file.size() / 4, file.size() / 2, file.size() - file.size() / 8};
  if (whole) {
    const std::size_t header_bytes = static_cast<std::size_t>(std::get<gguf::Header>(*whole).header_bytes());
    cuts.insert(cuts.end(), {header_bytes - 1, header_bytes});
  }
  for (const std::size_t cut : cuts) {
    if (cut > file.size()) continue;
    if (std::string problem = check_cut(file, cut, whole); !problem.empty()) return problem;
  }
  if (!whole) return check_error(whole.error());
  gguf::Header& header = std::get<gguf::Header>(*whole);
  if (std::string problem = check_header(header); !problem.empty()) return problem;
  return check_model(std::move(header));
}

}  // namespace layerstream::test

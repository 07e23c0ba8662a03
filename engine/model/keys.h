#pragma once
// SPDX-License-Identifier: MIT
// Hyper-parameters of one architecture: metadata keys with the prefix "<arch>.", range-checked.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/metadata.h"

namespace layerstream::model {

class Keys {
 public:
  Keys(const gguf::Metadata& metadata, std::string_view architecture) : metadata_(metadata), prefix_(architecture) { prefix_ += '.'; }

  [[nodiscard]] const gguf::Metadata& metadata() const { return metadata_; }
  [[nodiscard]] bool has(std::string_view key) const { return metadata_.has(full(key)); }

  // Integer in [low, high]; the key must be there, or `fallback` is taken (unchecked).
  [[nodiscard]] Result<std::uint64_t> require_uint(std::string_view key, std::uint64_t low, std::uint64_t high) const;
  [[nodiscard]] Result<std::uint64_t> uint_or(std::string_view key, std::uint64_t fallback, std::uint64_t low, std::uint64_t high) const;
  // Finite number in [low, high].
  [[nodiscard]] Result<double> require_float(std::string_view key, double low, double high) const;
  [[nodiscard]] Result<double> float_or(std::string_view key, double fallback, double low, double high) const;
  [[nodiscard]] Result<bool> bool_or(std::string_view key, bool fallback) const;
  [[nodiscard]] Result<std::string> string_or(std::string_view key, std::string_view fallback) const;
  // One number a layer: from a scalar (repeated) or an array of at least n_layers. Absent: `fallback` repeated,
  // or missing_key if there is none.
  [[nodiscard]] Result<std::vector<std::uint64_t>> per_layer(std::string_view key, std::size_t n_layers, std::optional<std::uint64_t> fallback,
                                                             std::uint64_t low, std::uint64_t high) const;

  [[nodiscard]] std::string full(std::string_view key) const { return prefix_ + std::string(key); }

 private:
  const gguf::Metadata& metadata_;
  std::string prefix_;
};

}  // namespace layerstream::model

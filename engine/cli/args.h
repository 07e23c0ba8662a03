#pragma once
// SPDX-License-Identifier: MIT
// Command-line arguments: one positional file, options with or without a value, typed getters with ranges.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace layerstream::cli {

class Args {
 public:
  // Options that take a value and options that do not; anything else is bad_argument.
  [[nodiscard]] static Result<Args> parse(std::span<char* const> arguments, std::span<const std::string_view> with_value,
                                          std::span<const std::string_view> flags);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(std::string(name)); }
  // The last one given, or all of them.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::span<const std::string> texts(std::string_view name) const;
  [[nodiscard]] Result<std::uint64_t> number(std::string_view name, std::uint64_t fallback, std::uint64_t low, std::uint64_t high) const;
  [[nodiscard]] Result<std::int32_t> integer(std::string_view name, std::int32_t fallback, std::int32_t low) const;
  [[nodiscard]] Result<float> real(std::string_view name, float fallback) const;

 private:
  std::string file_;
  std::map<std::string, std::vector<std::string>> values_;  // a flag has an empty list
};

}  // namespace layerstream::cli

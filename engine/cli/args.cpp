// SPDX-License-Identifier: MIT
#include "cli/args.h"

#include <algorithm>
#include <charconv>

namespace layerstream::cli {
namespace {

bool contains(std::span<const std::string_view> list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

template <typename T>
std::optional<T> to_number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
Result<T> ranged(std::string_view name, const std::optional<std::string>& value, T fallback, T low, T high) {
  if (!value) return fallback;
  const auto parsed = to_number<T>(*value);
  if (!parsed || *parsed < low || *parsed > high) {
    return fail(ErrorCode::bad_argument, std::string(name) + " is \"" + *value + "\", expected " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *parsed;
}

}  // namespace

Result<Args> Args::parse(std::span<char* const> arguments, std::span<const std::string_view> with_value, std::span<const std::string_view> flags) {
  Args args;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    if (contains(flags, argument)) {
      args.values_[argument];
    } else if (contains(with_value, argument)) {
      if (i + 1 == arguments.size()) return fail(ErrorCode::bad_argument, argument + " needs a value");
      args.values_[argument].emplace_back(arguments[++i]);
    } else if (argument.starts_with("-") && argument.size() > 1) {
      return fail(ErrorCode::bad_argument, "unknown option " + argument);
    } else if (args.file_.empty()) {
      args.file_ = argument;
    } else {
      return fail(ErrorCode::bad_argument, "more than one file: " + argument);
    }
  }
  if (args.file_.empty()) return fail(ErrorCode::bad_argument, "no model file given");
  return args;
}

std::span<const std::string> Args::texts(std::string_view name) const {
  const auto it = values_.find(std::string(name));
  return it == values_.end() ? std::span<const std::string>() : it->second;
}

std::optional<std::string> Args::text(std::string_view name) const {
  const auto all = texts(name);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

Result<std::uint64_t> Args::number(std::string_view name, std::uint64_t fallback, std::uint64_t low, std::uint64_t high) const {
  return ranged(name, text(name), fallback, low, high);
}

Result<std::int32_t> Args::integer(std::string_view name, std::int32_t fallback, std::int32_t low) const {
  return ranged(name, text(name), fallback, low, INT32_MAX);
}

Result<float> Args::real(std::string_view name, float fallback) const {
  const auto value = text(name);
  if (!value) return fallback;
  const auto parsed = to_number<float>(*value);
  if (!parsed) return fail(ErrorCode::bad_argument, std::string(name) + " is \"" + *value + "\", expected a number");
  return *parsed;
}

}  // namespace layerstream::cli

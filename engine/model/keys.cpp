// SPDX-License-Identifier: MIT
#include "model/keys.h"

#include <cmath>

namespace layerstream::model {
namespace {

Result<std::uint64_t> in_range(const std::string& key, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) {
    return fail(ErrorCode::bad_value, key + " is " + std::to_string(value) + ", expected " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

Result<double> in_range(const std::string& key, double value, double low, double high) {
  if (!(value >= low && value <= high)) {  // NaN fails too
    return fail(ErrorCode::bad_value, key + " is " + std::to_string(value) + ", expected " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

std::unexpected<Error> missing(const std::string& key) { return fail(ErrorCode::missing_key, "the metadata has no key " + key); }

}  // namespace

Result<std::uint64_t> Keys::require_uint(std::string_view key, std::uint64_t low, std::uint64_t high) const {
  const std::string name = full(key);
  const auto value = LS_TRY(metadata_.get_uint(name));
  if (!value) return missing(name);
  return in_range(name, *value, low, high);
}

Result<std::uint64_t> Keys::uint_or(std::string_view key, std::uint64_t fallback, std::uint64_t low, std::uint64_t high) const {
  const std::string name = full(key);
  const auto value = LS_TRY(metadata_.get_uint(name));
  if (!value) return fallback;
  return in_range(name, *value, low, high);
}

Result<double> Keys::require_float(std::string_view key, double low, double high) const {
  const std::string name = full(key);
  const auto value = LS_TRY(metadata_.get_float(name));
  if (!value) return missing(name);
  return in_range(name, *value, low, high);
}

Result<double> Keys::float_or(std::string_view key, double fallback, double low, double high) const {
  const std::string name = full(key);
  const auto value = LS_TRY(metadata_.get_float(name));
  if (!value) return fallback;
  return in_range(name, *value, low, high);
}

Result<bool> Keys::bool_or(std::string_view key, bool fallback) const {
  return LS_TRY(metadata_.get_bool(full(key))).value_or(fallback);
}

Result<std::string> Keys::string_or(std::string_view key, std::string_view fallback) const {
  const auto value = LS_TRY(metadata_.get_string(full(key)));
  return std::string(value.value_or(fallback));
}

Result<std::vector<std::uint64_t>> Keys::per_layer(std::string_view key, std::size_t n_layers, std::optional<std::uint64_t> fallback,
                                                   std::uint64_t low, std::uint64_t high) const {
  const std::string name = full(key);
  const gguf::Value* value = metadata_.find(name);
  if (value == nullptr) {
    if (!fallback) return missing(name);
    return std::vector<std::uint64_t>(n_layers, *fallback);
  }
  if (value->type != gguf::ValueType::array) {
    return std::vector<std::uint64_t>(n_layers, LS_TRY(require_uint(key, low, high)));
  }
  const auto numbers = LS_TRY(metadata_.get_int_array(name));
  if (numbers->size() < n_layers) {
    return fail(ErrorCode::bad_value, name + " has " + std::to_string(numbers->size()) + " elements, the model has " + std::to_string(n_layers) + " blocks");
  }
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < n_layers; ++i) {
    if ((*numbers)[i] < 0) return fail(ErrorCode::bad_value, name + "[" + std::to_string(i) + "] is negative");
    out.push_back(LS_TRY(in_range(name, static_cast<std::uint64_t>((*numbers)[i]), low, high)));
  }
  return out;
}

}  // namespace layerstream::model

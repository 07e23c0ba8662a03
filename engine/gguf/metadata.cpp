// SPDX-License-Identifier: MIT
// Typed getters over the packed values of a GGUF header. The reader has checked every payload's length,
// so values are decoded without looking at sizes again.

#include "gguf/metadata.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gguf/message_text.h"

namespace layerstream::gguf {

namespace {

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

struct NotANumber {};

// Calls `use` with the number at `at` in its own type, or with NotANumber.
template <typename Use>
auto with_number(ValueType type, const std::byte* at, Use use) {
  switch (type) {
    case ValueType::u8: return use(load<std::uint8_t>(at));
    case ValueType::i8: return use(load<std::int8_t>(at));
    case ValueType::u16: return use(load<std::uint16_t>(at));
    case ValueType::i16: return use(load<std::int16_t>(at));
    case ValueType::u32: return use(load<std::uint32_t>(at));
    case ValueType::i32: return use(load<std::int32_t>(at));
    case ValueType::u64: return use(load<std::uint64_t>(at));
    case ValueType::i64: return use(load<std::int64_t>(at));
    case ValueType::f32: return use(load<float>(at));
    case ValueType::f64: return use(load<double>(at));
    case ValueType::boolean: return use(load<std::uint8_t>(at) != 0);
    case ValueType::string:
    case ValueType::array: break;
  }
  return use(NotANumber{});
}

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// An integer that fits To.
template <typename To>
std::optional<To> to_integer(ValueType type, const std::byte* at) {
  return with_number(type, at, [](auto number) -> std::optional<To> {
    if constexpr (kIsInteger<decltype(number)>) {
      if (std::in_range<To>(number)) return static_cast<To>(number);
    }
    return std::nullopt;
  });
}

std::optional<double> to_double(ValueType type, const std::byte* at) {
  return with_number(type, at, [](auto number) -> std::optional<double> {
    using T = decltype(number);
    if constexpr (kIsInteger<T> || std::is_floating_point_v<T>) return static_cast<double>(number);
    return std::nullopt;
  });
}

// Integers, bools, and floats that hold an integer exactly.
std::optional<std::int64_t> to_element(ValueType type, const std::byte* at) {
  if (const auto integer = to_integer<std::int64_t>(type, at)) return integer;
  return with_number(type, at, [](auto number) -> std::optional<std::int64_t> {
    using T = decltype(number);
    if constexpr (std::is_same_v<T, bool>) {
      return number ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      const double value = static_cast<double>(number);
      if (std::fabs(value) <= kExact && std::floor(value) == value) return static_cast<std::int64_t>(value);
    }
    return std::nullopt;
  });
}

std::string number_text(ValueType type, const std::byte* at) {
  return with_number(type, at, [](auto number) -> std::string {
    using T = decltype(number);
    if constexpr (std::is_same_v<T, bool>) return number ? "true" : "false";
    else if constexpr (std::is_arithmetic_v<T>) return std::to_string(number);
    else return "";
  });
}

// "i32 -1", "a string", "an array of 3 f32"
std::string value_text(const Value& value) {
  if (value.type == ValueType::array) {
    return join("an array of ", value.count, " ", value_type_name(value.element_type));
  }
  if (value.type == ValueType::string) return "a string";
  return join(value_type_name(value.type), " ", number_text(value.type, value.bytes.data()));
}

std::unexpected<Error> wrong_type(std::string_view key, const Value& value, std::string_view expected) {
  return fail(ErrorCode::bad_value,
              join("metadata key ", quoted(key), " is ", value_text(value), ", expected ", expected));
}

std::unexpected<Error> wrong_element(std::string_view key, const Value& value, std::uint64_t i,
                                     std::string_view expected) {
  const std::uint64_t width = value_type_bytes(value.element_type);
  const std::string found = number_text(value.element_type, value.bytes.data() + i * width);
  return fail(ErrorCode::bad_value, join("metadata key ", quoted(key), ": element ", i, " is ",
                                         value_type_name(value.element_type), " ", found, ", expected ", expected));
}

// Every element of a numeric array through `convert` (type, address) -> optional<T>.
template <typename T, typename Convert>
Result<std::optional<std::vector<T>>> convert_array(std::string_view key, const Value* value, std::string_view expected,
                                                    Convert convert) {
  if (value == nullptr) return std::nullopt;
  const std::uint64_t width = value_type_bytes(value->element_type);
  if (value->type != ValueType::array || (width == 0 && value->count != 0)) {
    return wrong_type(key, *value, "an array of " + std::string(expected) + "s");
  }
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(value->count));
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const std::optional<T> element = convert(value->element_type, value->bytes.data() + i * width);
    if (!element) return wrong_element(key, *value, i, expected);
    out.push_back(*element);
  }
  return out;
}

// The string whose length lies at `at`.
std::string_view string_at(const std::byte* at) {
  return {reinterpret_cast<const char*>(at + sizeof(std::uint64_t)), static_cast<std::size_t>(load<std::uint64_t>(at))};
}

}  // namespace

std::string_view value_type_name(ValueType type) {
  switch (type) {
    case ValueType::u8: return "u8";
    case ValueType::i8: return "i8";
    case ValueType::u16: return "u16";
    case ValueType::i16: return "i16";
    case ValueType::u32: return "u32";
    case ValueType::i32: return "i32";
    case ValueType::f32: return "f32";
    case ValueType::boolean: return "bool";
    case ValueType::string: return "string";
    case ValueType::array: return "array";
    case ValueType::u64: return "u64";
    case ValueType::i64: return "i64";
    case ValueType::f64: return "f64";
  }
  return "unknown";
}

std::uint64_t value_type_bytes(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean: return 1;
    case ValueType::u16:
    case ValueType::i16: return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32: return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64: return 8;
    case ValueType::string:
    case ValueType::array: return 0;
  }
  return 0;
}

bool Metadata::add(std::string_view key, Value value) {
  if (!index_.emplace(key, pairs_.size()).second) return false;
  pairs_.push_back({key, value});
  return true;
}

const Value* Metadata::find(std::string_view key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &pairs_[at->second].value;
}

Result<std::optional<std::uint64_t>> Metadata::get_uint(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto integer = to_integer<std::uint64_t>(value->type, value->bytes.data());
  if (!integer) return wrong_type(key, *value, "a non-negative integer");
  return integer;
}

Result<std::optional<std::int64_t>> Metadata::get_int(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto integer = to_integer<std::int64_t>(value->type, value->bytes.data());
  if (!integer) return wrong_type(key, *value, "an integer of at most 63 bits and sign");
  return integer;
}

Result<std::optional<double>> Metadata::get_float(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = to_double(value->type, value->bytes.data());
  if (!number) return wrong_type(key, *value, "a number");
  return number;
}

Result<std::optional<bool>> Metadata::get_bool(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type == ValueType::boolean) return std::optional<bool>(load<std::uint8_t>(value->bytes.data()) != 0);
  const auto integer = to_integer<std::uint64_t>(value->type, value->bytes.data());
  if (!integer || *integer > 1) return wrong_type(key, *value, "a bool");
  return std::optional<bool>(*integer == 1);
}

Result<std::optional<std::string_view>> Metadata::get_string(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != ValueType::string) return wrong_type(key, *value, "a string");
  return string_at(value->bytes.data());
}

Result<std::optional<std::vector<std::int64_t>>> Metadata::get_int_array(std::string_view key) const {
  return convert_array<std::int64_t>(key, find(key), "integer", to_element);
}

Result<std::optional<std::vector<double>>> Metadata::get_float_array(std::string_view key) const {
  return convert_array<double>(key, find(key), "number", to_double);
}

Result<std::optional<std::vector<std::string_view>>> Metadata::get_string_array(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != ValueType::array || (value->element_type != ValueType::string && value->count != 0)) {
    return wrong_type(key, *value, "an array of strings");
  }
  std::vector<std::string_view> out;
  out.reserve(static_cast<std::size_t>(value->count));
  const std::byte* at = value->bytes.data();
  for (std::uint64_t i = 0; i < value->count; ++i) {
    out.push_back(string_at(at));
    at += sizeof(std::uint64_t) + out.back().size();
  }
  return out;
}

}  // namespace layerstream::gguf

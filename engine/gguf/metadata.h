#pragma once
// SPDX-License-Identifier: MIT
// The key-value part of a GGUF header: typed getters that accept every spelling found in the wild
// (any integer width in range, f32 or f64) and name the key in their errors.
// Values are views into the header's bytes, which gguf::Header owns.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace layerstream::gguf {

// Value types of the format (GGUF specification, "gguf_metadata_value_type").
enum class ValueType : std::uint32_t {
  u8 = 0, i8 = 1, u16 = 2, i16 = 3, u32 = 4, i32 = 5, f32 = 6, boolean = 7, string = 8, array = 9, u64 = 10, i64 = 11, f64 = 12,
};

// "u8", ..., "bool", "string", "array"; "unknown" for other numbers.
[[nodiscard]] std::string_view value_type_name(ValueType type);

// Bytes of one number or bool; 0 for strings, arrays and unknown types.
[[nodiscard]] std::uint64_t value_type_bytes(ValueType type);

struct Value {
  ValueType type = ValueType::u8;
  ValueType element_type = ValueType::u8;  // of arrays
  std::uint64_t count = 1;                 // elements of an array
  std::span<const std::byte> bytes;        // the packed payload; strings with their u64 length before them
};

class Metadata {
 public:
  struct Pair {
    std::string_view key;
    Value value;
  };

  // In file order.
  [[nodiscard]] std::span<const Pair> pairs() const { return pairs_; }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const Value* find(std::string_view key) const;

  // Each getter: absent -> nullopt; present with a type that cannot stand for T -> bad_value naming the key.
  [[nodiscard]] Result<std::optional<std::uint64_t>> get_uint(std::string_view key) const;   // any non-negative integer
  [[nodiscard]] Result<std::optional<std::int64_t>> get_int(std::string_view key) const;
  [[nodiscard]] Result<std::optional<double>> get_float(std::string_view key) const;         // f32, f64 or an integer
  [[nodiscard]] Result<std::optional<bool>> get_bool(std::string_view key) const;            // bool, or an integer 0/1
  [[nodiscard]] Result<std::optional<std::string_view>> get_string(std::string_view key) const;
  // Arrays. Numbers of any integer or float type are converted where that loses nothing (to double: rounds);
  // a scalar is not an array. An empty array has no elements of a wrong type: it passes as any.
  [[nodiscard]] Result<std::optional<std::vector<std::int64_t>>> get_int_array(std::string_view key) const;   // bool arrays too
  [[nodiscard]] Result<std::optional<std::vector<double>>> get_float_array(std::string_view key) const;
  [[nodiscard]] Result<std::optional<std::vector<std::string_view>>> get_string_array(std::string_view key) const;

  // Used by the reader. False if the key is already there.
  bool add(std::string_view key, Value value);

 private:
  std::vector<Pair> pairs_;
  // Ordered: no choice of keys makes lookups slow, which a hash with a known seed could not promise.
  std::map<std::string_view, std::size_t> index_;
};

}  // namespace layerstream::gguf

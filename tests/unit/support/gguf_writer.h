#pragma once
// SPDX-License-Identifier: MIT
// Writes small GGUF files for tests, valid ones by default and broken ones on request.
//
//   GgufWriter w;
//   w.add("general.architecture", "llama").add_u32("llama.block_count", 2);
//   w.add_tensor("output_norm.weight", QuantType::f32, {64}, test::bytes_of(values));
//   std::vector<std::byte> file = w.finish();
//
// Tensor dims are in file order: the row length (columns) first. Breaking a file: `override_*`, add_raw(),
// add_raw_tensor(), or finish() and then patch() at offset_of("count:tokenizer.ggml.tokens").

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace layerstream::test {

using Bytes = std::vector<std::byte>;

// The bytes of any contiguous range of numbers.
template <typename Range>
[[nodiscard]] Bytes bytes_of(const Range& range) {
  using T = std::remove_cvref_t<decltype(*std::data(range))>;
  static_assert(std::is_trivially_copyable_v<T>);
  Bytes out(std::size(range) * sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), std::data(range), out.size());
  return out;
}

// Overwrites the bytes at `offset` with `value` (little-endian); the vector must be long enough.
template <typename T>
void patch(Bytes& file, std::size_t offset, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

// Bytes of a tensor of these dims (file order), by the table in base/dtype.h.
[[nodiscard]] inline std::size_t tensor_bytes(QuantType type, const std::vector<std::uint64_t>& dims) {
  std::uint64_t rows = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) rows *= dims[i];
  return static_cast<std::size_t>(row_bytes(type, dims.empty() ? 1 : dims[0]) * rows);
}

// A tensor table row written as it is, right or wrong.
struct RawTensor {
  std::string name;
  std::uint32_t type_number = 0;
  std::vector<std::uint64_t> dims;
  std::optional<std::uint32_t> n_dims;         // what the file says; default dims.size()
  std::optional<std::uint64_t> stated_offset;  // what the file says, relative to the data; default where it lies
  Bytes data;
};

class GgufWriter {
 public:
  // Type numbers of the format, written out so that the writer does not lean on the code under test.
  enum : std::uint32_t {
    kU8 = 0, kI8 = 1, kU16 = 2, kI16 = 3, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9,
    kU64 = 10, kI64 = 11, kF64 = 12,
  };

  explicit GgufWriter(std::uint32_t version = 3) : version_(version) {}

  // --- metadata, written in the order of the calls; nothing is checked, duplicates included ---
  GgufWriter& add(std::string_view key, std::string_view value) { return add_raw(key, kString, string_bytes(value)); }
  GgufWriter& add_u8(std::string_view key, std::uint8_t value) { return add_number(key, kU8, value); }
  GgufWriter& add_i8(std::string_view key, std::int8_t value) { return add_number(key, kI8, value); }
  GgufWriter& add_u16(std::string_view key, std::uint16_t value) { return add_number(key, kU16, value); }
  GgufWriter& add_i16(std::string_view key, std::int16_t value) { return add_number(key, kI16, value); }
  GgufWriter& add_u32(std::string_view key, std::uint32_t value) { return add_number(key, kU32, value); }
  GgufWriter& add_i32(std::string_view key, std::int32_t value) { return add_number(key, kI32, value); }
  GgufWriter& add_u64(std::string_view key, std::uint64_t value) { return add_number(key, kU64, value); }
  GgufWriter& add_i64(std::string_view key, std::int64_t value) { return add_number(key, kI64, value); }
  GgufWriter& add_f32(std::string_view key, float value) { return add_number(key, kF32, value); }
  GgufWriter& add_f64(std::string_view key, double value) { return add_number(key, kF64, value); }
  GgufWriter& add_bool(std::string_view key, bool value) {
    return add_number(key, kBool, static_cast<std::uint8_t>(value ? 1 : 0));
  }

  GgufWriter& add_string_array(std::string_view key, const std::vector<std::string>& values) {
    Bytes packed;
    for (const std::string& value : values) put_string(packed, value);
    return add_raw_array(key, kString, values.size(), packed);
  }
  GgufWriter& add_bool_array(std::string_view key, const std::vector<bool>& values) {
    Bytes packed;
    for (const bool value : values) packed.push_back(value ? std::byte{1} : std::byte{0});
    return add_raw_array(key, kBool, values.size(), packed);
  }
  GgufWriter& add_u8_array(std::string_view key, const std::vector<std::uint8_t>& v) { return add_numbers(key, kU8, v); }
  GgufWriter& add_i8_array(std::string_view key, const std::vector<std::int8_t>& v) { return add_numbers(key, kI8, v); }
  GgufWriter& add_u16_array(std::string_view key, const std::vector<std::uint16_t>& v) { return add_numbers(key, kU16, v); }
  GgufWriter& add_i16_array(std::string_view key, const std::vector<std::int16_t>& v) { return add_numbers(key, kI16, v); }
  GgufWriter& add_u32_array(std::string_view key, const std::vector<std::uint32_t>& v) { return add_numbers(key, kU32, v); }
  GgufWriter& add_i32_array(std::string_view key, const std::vector<std::int32_t>& v) { return add_numbers(key, kI32, v); }
  GgufWriter& add_u64_array(std::string_view key, const std::vector<std::uint64_t>& v) { return add_numbers(key, kU64, v); }
  GgufWriter& add_i64_array(std::string_view key, const std::vector<std::int64_t>& v) { return add_numbers(key, kI64, v); }
  GgufWriter& add_f32_array(std::string_view key, const std::vector<float>& v) { return add_numbers(key, kF32, v); }
  GgufWriter& add_f64_array(std::string_view key, const std::vector<double>& v) { return add_numbers(key, kF64, v); }

  // Any type number with any payload.
  GgufWriter& add_raw(std::string_view key, std::uint32_t type_number, Bytes payload) {
    pairs_.push_back({std::string(key), type_number, std::move(payload)});
    return *this;
  }
  // Element type and count as stated, then the payload.
  GgufWriter& add_raw_array(std::string_view key, std::uint32_t element_type, std::uint64_t count, const Bytes& packed) {
    Bytes payload;
    put(payload, element_type);
    put(payload, count);
    payload.insert(payload.end(), packed.begin(), packed.end());
    return add_raw(key, kArray, std::move(payload));
  }
  // The keys of part `number` (from 0) of a split model, in the types the reference splitter uses.
  GgufWriter& add_split(std::uint16_t number, std::uint16_t count, std::int32_t all_tensors) {
    return add_u16("split.no", number).add_u16("split.count", count).add_i32("split.tensors.count", all_tensors);
  }

  // --- tensors, laid out in the order of the calls, each padded to the alignment ---
  GgufWriter& add_tensor(std::string_view name, QuantType type, std::vector<std::uint64_t> dims, Bytes data) {
    return add_raw_tensor({.name = std::string(name), .type_number = static_cast<std::uint32_t>(type),
                           .dims = std::move(dims), .n_dims = {}, .stated_offset = {}, .data = std::move(data)});
  }
  GgufWriter& add_zero_tensor(std::string_view name, QuantType type, const std::vector<std::uint64_t>& dims) {
    return add_tensor(name, type, dims, Bytes(tensor_bytes(type, dims)));
  }
  GgufWriter& add_raw_tensor(RawTensor tensor) {
    tensors_.push_back(std::move(tensor));
    return *this;
  }

  // Alignment of data and tensors; says so in general.alignment (once) unless `silent`.
  GgufWriter& set_alignment(std::uint32_t alignment, bool silent = false) {
    alignment_ = alignment;
    return silent ? *this : add_u32("general.alignment", alignment);
  }
  GgufWriter& pad_last_tensor(bool pad) { pad_last_ = pad; return *this; }

  // --- deliberate damage ---
  GgufWriter& override_magic(std::string_view magic) { magic_ = magic; return *this; }
  GgufWriter& override_version(std::uint32_t version) { version_ = version; return *this; }
  GgufWriter& override_tensor_count(std::uint64_t count) { tensor_count_ = count; return *this; }
  GgufWriter& override_pair_count(std::uint64_t count) { pair_count_ = count; return *this; }

  // The whole file. May be called again after more additions.
  [[nodiscard]] Bytes finish() {
    marks_.clear();
    Bytes out;
    for (const char c : magic_) out.push_back(static_cast<std::byte>(c));
    put(out, version_);
    mark("tensor_count", out);
    put(out, tensor_count_.value_or(tensors_.size()));
    mark("pair_count", out);
    put(out, pair_count_.value_or(pairs_.size()));
    for (const Pair& pair : pairs_) put_pair(out, pair);

    Bytes data;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const RawTensor& tensor = tensors_[i];
      put_tensor(out, tensor, data.size());
      data.insert(data.end(), tensor.data.begin(), tensor.data.end());
      if (pad_last_ || i + 1 < tensors_.size()) pad(data);
    }
    header_bytes_ = out.size();
    if (!tensors_.empty()) pad(out);
    mark("data", out);
    out.insert(out.end(), data.begin(), data.end());
    return out;
  }

  // --- known after finish() ---
  [[nodiscard]] std::size_t header_bytes() const { return header_bytes_; }
  [[nodiscard]] std::size_t data_offset() const { return marks_.at("data"); }
  // Where a field lies. "tensor_count", "pair_count", "data"; per key "key:K" (its length), "type:K", "value:K",
  // of arrays "element_type:K", "count:K"; per tensor "name:T" (its length), "n_dims:T", "dims:T", "tensor_type:T",
  // "offset:T". Throws (std::map::at) for anything else.
  [[nodiscard]] std::size_t offset_of(const std::string& field) const { return marks_.at(field); }

 private:
  struct Pair {
    std::string key;
    std::uint32_t type;
    Bytes payload;
  };

  template <typename T>
  static void put(Bytes& out, T value) {
    const std::size_t at = out.size();
    out.resize(at + sizeof(T));
    std::memcpy(out.data() + at, &value, sizeof(T));
  }
  static void put_string(Bytes& out, std::string_view text) {
    put(out, static_cast<std::uint64_t>(text.size()));
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
  }
  static Bytes string_bytes(std::string_view text) {
    Bytes out;
    put_string(out, text);
    return out;
  }
  template <typename T>
  GgufWriter& add_number(std::string_view key, std::uint32_t type, T value) {
    Bytes payload;
    put(payload, value);
    return add_raw(key, type, std::move(payload));
  }
  template <typename T>
  GgufWriter& add_numbers(std::string_view key, std::uint32_t type, const std::vector<T>& values) {
    return add_raw_array(key, type, values.size(), bytes_of(values));
  }
  void mark(std::string field, const Bytes& out) { marks_[std::move(field)] = out.size(); }
  void pad(Bytes& out) const {
    while (alignment_ != 0 && out.size() % alignment_ != 0) out.push_back(std::byte{0});
  }
  void put_pair(Bytes& out, const Pair& pair) {
    mark("key:" + pair.key, out);
    put_string(out, pair.key);
    mark("type:" + pair.key, out);
    put(out, pair.type);
    mark("value:" + pair.key, out);
    if (pair.type == kArray) {
      marks_["element_type:" + pair.key] = out.size();
      marks_["count:" + pair.key] = out.size() + 4;
    }
    out.insert(out.end(), pair.payload.begin(), pair.payload.end());
  }
  void put_tensor(Bytes& out, const RawTensor& tensor, std::size_t data_position) {
    mark("name:" + tensor.name, out);
    put_string(out, tensor.name);
    mark("n_dims:" + tensor.name, out);
    put(out, tensor.n_dims.value_or(static_cast<std::uint32_t>(tensor.dims.size())));
    mark("dims:" + tensor.name, out);
    for (const std::uint64_t dim : tensor.dims) put(out, dim);
    mark("tensor_type:" + tensor.name, out);
    put(out, tensor.type_number);
    mark("offset:" + tensor.name, out);
    put(out, tensor.stated_offset.value_or(data_position));
  }

  std::string magic_ = "GGUF";
  std::uint32_t version_;
  std::uint32_t alignment_ = 32;
  bool pad_last_ = true;
  std::optional<std::uint64_t> tensor_count_;
  std::optional<std::uint64_t> pair_count_;
  std::vector<Pair> pairs_;
  std::vector<RawTensor> tensors_;
  std::map<std::string, std::size_t> marks_;
  std::size_t header_bytes_ = 0;
};

}  // namespace layerstream::test

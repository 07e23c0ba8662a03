// SPDX-License-Identifier: MIT
// Generator of random GGUF files that remember what was put in.

#include <algorithm>
#include <limits>
#include <optional>

#include "gguf_test_util.h"

namespace layerstream::test {

namespace {

using gguf::Header;
using gguf::Metadata;
using gguf::ValueType;

template <typename T>
void expect_array(const Metadata& metadata, const std::string& key, const std::vector<T>& values) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto found = metadata.get_float_array(key);
    ASSERT_TRUE(found && *found) << key;
    EXPECT_TRUE(std::ranges::equal(**found, values)) << key;
  } else {
    const auto found = metadata.get_int_array(key);
    const bool fits = std::ranges::all_of(values, [](T v) { return std::in_range<std::int64_t>(v); });
    EXPECT_EQ(found.has_value(), fits) << key;
    if (found) {
      EXPECT_TRUE(std::ranges::equal(**found, values)) << key;
    }
  }
}

template <typename T>
void expect_scalar(const Metadata& metadata, const std::string& key, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    EXPECT_EQ(metadata.get_float(key).value(), std::optional<double>(value)) << key;
    EXPECT_FALSE(metadata.get_int(key).has_value()) << key;
    EXPECT_FALSE(metadata.get_uint(key).has_value()) << key;
  } else {
    const auto as_uint = metadata.get_uint(key);
    EXPECT_EQ(as_uint.has_value(), std::in_range<std::uint64_t>(value)) << key;
    if (as_uint) {
      EXPECT_EQ(**as_uint, static_cast<std::uint64_t>(value)) << key;
    }
    const auto as_int = metadata.get_int(key);
    EXPECT_EQ(as_int.has_value(), std::in_range<std::int64_t>(value)) << key;
    if (as_int) {
      EXPECT_EQ(**as_int, static_cast<std::int64_t>(value)) << key;
    }
    EXPECT_EQ(metadata.get_float(key).value(), std::optional<double>(static_cast<double>(value))) << key;
  }
}

// Adds a scalar or an array of T by the given members of the writer.
template <typename T, typename AddOne, typename AddMany>
void add_number(GgufWriter& writer, RandomFile& file, Random& random, const std::string& key, AddOne add_one, AddMany add_many) {
  std::vector<T> values = random_numbers<T>(random);
  if (!values.empty() && below(random, 2) == 0) {
    (writer.*add_one)(key, values[0]);
    file.checks.push_back([=](const Header& header, const Bytes&) { expect_scalar<T>(header.metadata(), key, values[0]); });
  } else {
    (writer.*add_many)(key, values);
    file.checks.push_back([=](const Header& header, const Bytes&) { expect_array<T>(header.metadata(), key, values); });
  }
}

void add_text(GgufWriter& writer, RandomFile& file, Random& random, const std::string& key) {
  if (below(random, 2) == 0) {
    const std::string text = random_text(random, 40);
    writer.add(key, text);
    file.checks.push_back([=](const Header& header, const Bytes&) {
      EXPECT_EQ(header.metadata().get_string(key).value(), std::optional<std::string_view>(text));
    });
    return;
  }
  std::vector<std::string> texts(static_cast<std::size_t>(below(random, 12)));
  for (std::string& text : texts) text = random_text(random, 12);
  writer.add_string_array(key, texts);
  file.checks.push_back([=](const Header& header, const Bytes&) {
    const auto found = header.metadata().get_string_array(key);
    ASSERT_TRUE(found && *found);
    EXPECT_TRUE(std::ranges::equal(**found, texts));
  });
}

void add_bools(GgufWriter& writer, RandomFile& file, Random& random, const std::string& key) {
  if (below(random, 2) == 0) {
    const bool value = below(random, 2) == 0;
    writer.add_bool(key, value);
    file.checks.push_back([=](const Header& header, const Bytes&) {
      EXPECT_EQ(header.metadata().get_bool(key).value(), std::optional<bool>(value));
    });
    return;
  }
  std::vector<bool> values(static_cast<std::size_t>(below(random, 9)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = below(random, 2) == 0;
  writer.add_bool_array(key, values);
  file.checks.push_back([=](const Header& header, const Bytes&) {
    const auto found = header.metadata().get_int_array(key);
    ASSERT_TRUE(found && *found);
    EXPECT_TRUE(std::ranges::equal(**found, values));
  });
}

void add_pair(GgufWriter& writer, RandomFile& file, Random& random, std::size_t i) {
  const std::string key = "key." + std::to_string(i) + "." + random_text(random, 5);
  using W = GgufWriter;
  switch (below(random, 12)) {
    case 0: return add_number<std::uint8_t>(writer, file, random, key, &W::add_u8, &W::add_u8_array);
    case 1: return add_number<std::int8_t>(writer, file, random, key, &W::add_i8, &W::add_i8_array);
    case 2: return add_number<std::uint16_t>(writer, file, random, key, &W::add_u16, &W::add_u16_array);
    case 3: return add_number<std::int16_t>(writer, file, random, key, &W::add_i16, &W::add_i16_array);
    case 4: return add_number<std::uint32_t>(writer, file, random, key, &W::add_u32, &W::add_u32_array);
    case 5: return add_number<std::int32_t>(writer, file, random, key, &W::add_i32, &W::add_i32_array);
    case 6: return add_number<std::uint64_t>(writer, file, random, key, &W::add_u64, &W::add_u64_array);
    case 7: return add_number<std::int64_t>(writer, file, random, key, &W::add_i64, &W::add_i64_array);
    case 8: return add_number<float>(writer, file, random, key, &W::add_f32, &W::add_f32_array);
    case 9: return add_number<double>(writer, file, random, key, &W::add_f64, &W::add_f64_array);
    case 10: return add_bools(writer, file, random, key);
    default: return add_text(writer, file, random, key);
  }
}

void add_tensor(GgufWriter& writer, RandomFile& file, Random& random, std::size_t i) {
  const TypeInfo& info = kTypeInfos[static_cast<std::size_t>(below(random, kTypeInfos.size()))];
  const std::string name = "blk." + std::to_string(i) + ".w";
  std::vector<std::uint64_t> dims = {info.block_elements * below(random, 4)};
  while (dims.size() < 4 && below(random, 2) == 0) dims.push_back(below(random, 4));
  Bytes data(tensor_bytes(info.type, dims));
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  writer.add_tensor(name, info.type, dims, data);
  file.checks.push_back([=](const Header& header, const Bytes& bytes) {
    ASSERT_LT(i, header.tensors().size());
    const gguf::TensorInfo& tensor = header.tensors()[i];
    EXPECT_EQ(tensor.name, name);
    EXPECT_EQ(tensor.type, info.type);
    EXPECT_EQ(tensor.n_dims, dims.size());
    for (std::size_t d = 0; d < 4; ++d) EXPECT_EQ(tensor.dims[d], d < dims.size() ? dims[d] : 1u);
    ASSERT_EQ(tensor.bytes, data.size());
    if (data.empty()) return;
    ASSERT_LE(tensor.offset + tensor.bytes, bytes.size());
    EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(tensor.offset)));
  });
}

}  // namespace

RandomFile make_random_file(std::uint64_t seed) {
  Random random(seed);
  RandomFile file;
  GgufWriter writer(below(random, 2) == 0 ? 2 : 3);
  if (below(random, 2) == 0) writer.set_alignment(8u << below(random, 5));
  const std::size_t n_pairs = static_cast<std::size_t>(below(random, 12));
  for (std::size_t i = 0; i < n_pairs; ++i) add_pair(writer, file, random, i);
  const std::size_t n_tensors = static_cast<std::size_t>(below(random, 5));
  for (std::size_t i = 0; i < n_tensors; ++i) add_tensor(writer, file, random, i);
  file.checks.push_back([=](const Header& header, const Bytes&) { EXPECT_EQ(header.tensors().size(), n_tensors); });
  file.bytes = writer.finish();
  file.header_bytes = writer.header_bytes();
  return file;
}

}  // namespace layerstream::test

// SPDX-License-Identifier: MIT
// Each way a header can be wrong, as its own file, with the error code and the words the message must hold.

#include <functional>
#include <ostream>

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

using test::Bytes;
using test::GgufWriter;
using test::RawTensor;
using W = GgufWriter;

struct Refusal {
  std::string name;
  ErrorCode code;
  std::vector<std::string> words;  // of the message
  std::function<Bytes()> make;
};

// For GoogleTest's messages.
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

constexpr std::uint32_t kF32 = static_cast<std::uint32_t>(QuantType::f32);

// A good file with one number overwritten.
template <typename T>
std::function<Bytes()> patched(std::string field, T value, std::size_t skip = 0) {
  return [=] {
    GgufWriter w;
    w.add("general.architecture", "llama").add("text", "abc").add_u32("number", 1).add_bool("flag", true);
    w.add_u64_array("array", {1, 2, 3}).add_string_array("texts", {"a", "b"}).add_bool_array("flags", {true, false});
    w.add_zero_tensor("first", QuantType::q4_0, {64, 2}).add_zero_tensor("second", QuantType::f32, {8, 8});
    Bytes file = w.finish();
    test::patch(file, w.offset_of(field) + skip, value);
    return file;
  };
}

std::function<Bytes()> with_tensor(RawTensor tensor) {
  return [=] { return GgufWriter().add_raw_tensor(tensor).finish(); };
}

std::function<Bytes()> with_dims(QuantType type, std::vector<std::uint64_t> dims) {
  return with_tensor({.name = "w", .type_number = static_cast<std::uint32_t>(type), .dims = std::move(dims), .n_dims = {}, .stated_offset = {}, .data = Bytes(64)});
}

std::function<Bytes()> of_type(std::uint32_t number) {
  return with_tensor({.name = "blk.0.ffn_up.weight", .type_number = number, .dims = {256}, .n_dims = {}, .stated_offset = {}, .data = Bytes(4096)});
}

std::function<Bytes()> named(std::string name) {
  return with_tensor({.name = std::move(name), .type_number = kF32, .dims = {1}, .n_dims = {}, .stated_offset = {}, .data = Bytes(4)});
}

std::function<Bytes()> aligned_by(std::function<void(GgufWriter&)> add) {
  return [=] {
    GgufWriter w;
    add(w);
    return w.add_zero_tensor("w", QuantType::f32, {1}).finish();
  };
}

// Two tensors of 64 bytes with stated offsets.
std::function<Bytes()> two_at(std::uint64_t first, std::uint64_t second) {
  return [=] {
    GgufWriter w;
    w.add_raw_tensor({.name = "one", .type_number = kF32, .dims = {16}, .n_dims = {}, .stated_offset = first, .data = Bytes(64)});
    w.add_raw_tensor({.name = "two", .type_number = kF32, .dims = {16}, .n_dims = {}, .stated_offset = second, .data = Bytes(64)});
    return w.finish();
  };
}

std::function<Bytes()> first_bytes(std::size_t count) {
  return [=] {
    Bytes file = GgufWriter().finish();
    file.resize(count);
    return file;
  };
}

std::function<Bytes()> magic(std::string text) {
  return [=] { return GgufWriter().override_magic(text).finish(); };
}
std::function<Bytes()> version(std::uint32_t number) {
  return [=] { return GgufWriter().override_version(number).finish(); };
}

// The deprecated byte-for-byte layout of version 1: 32-bit counts.
Bytes version_1_file() {
  Bytes file = test::bytes_of(std::string("GGUF"));
  for (const std::uint32_t number : {1u, 0u, 0u}) {
    const Bytes bytes = test::bytes_of(std::vector<std::uint32_t>{number});
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  return file;
}

std::vector<Refusal> container_refusals() {
  using enum ErrorCode;
  return {
      {"EmptyFile", truncated, {"the magic", "found 0"}, first_bytes(0)},
      {"HalfAMagic", truncated, {"the magic"}, first_bytes(3)},
      {"MagicAlone", truncated, {"the version"}, first_bytes(4)},
      {"NoCounts", truncated, {"the tensor count", "byte 8"}, first_bytes(8)},
      {"HalfTheCounts", truncated, {"the pair count", "found 7"}, first_bytes(23)},
      {"OlderMagic", bad_magic, {"'ggjt'", "expected 'GGUF'"}, magic("ggjt")},
      {"SwappedMagic", bad_magic, {"'FUGG'"}, magic("FUGG")},
      {"WebPage", bad_magic, {"'<!DO'"}, magic("<!DOCTYPE html>")},
      {"PointerFile", bad_magic, {"'vers'"}, magic("version https://git-lfs.github.com/spec/v1")},
      {"ZeroMagic", bad_magic, {"\\x00\\x00\\x00\\x00"}, magic(std::string(4, '\0'))},
      {"Version0", unsupported_version, {"version is 0", "expected 2 or 3"}, version(0)},
      {"Version1", unsupported_version, {"version is 1", "32-bit", "convert"}, version_1_file},
      {"Version4", unsupported_version, {"version is 4", "expected 2 or 3"}, version(4)},
      {"VersionOfAllOnes", unsupported_version, {"4294967295"}, version(~0u)},
      {"BigEndianVersion3", unsupported_version, {"big-endian"}, version(3u << 24)},
      {"BigEndianVersion2", unsupported_version, {"big-endian"}, version(2u << 24)},
      {"MoreTensorsThanTheFileHolds", truncated, {"announces 40 tensors"}, patched("tensor_count", std::uint64_t{40})},
      {"MorePairsThanTheFileHolds", truncated, {"100 metadata pairs"}, patched("pair_count", std::uint64_t{100})},
      {"OnePairMoreThanTheSmallest", truncated, {"2 metadata pairs", "at least 28 bytes"},
       [] { return GgufWriter().add_u8("k", 1).override_pair_count(2).finish(); }},
      {"OneTensorMoreThanTheSmallest", truncated, {"2 tensors", "at least 50 bytes"}, [] {
         GgufWriter w;
         Bytes file = w.add_zero_tensor("x", QuantType::i8, {}).override_tensor_count(2).finish();
         file.resize(w.header_bytes());
         return file;
       }},
      {"TensorCountAboveTheCap", bad_file, {"131073 tensors"}, patched("tensor_count", std::uint64_t{131073})},
      {"PairCountAboveTheCap", bad_file, {"131073 metadata pairs"}, patched("pair_count", std::uint64_t{131073})},
      {"TensorCountThatWraps", bad_file, {"tensors"}, patched("tensor_count", ~std::uint64_t{0} / 25 + 1)},
      {"PairCountThatWraps", bad_file, {"pairs"}, patched("pair_count", ~std::uint64_t{0} / 14 + 1)},
      {"NegativeTensorCount", bad_file, {"18446744073709551615 tensors"}, patched("tensor_count", std::int64_t{-1})},
      {"NegativePairCount", bad_file, {"9223372036854775808 metadata"}, patched("pair_count", std::uint64_t{1} << 63)},
  };
}

std::vector<Refusal> pair_refusals() {
  using enum ErrorCode;
  return {
      {"KeyBeyondTheFile", truncated, {"a metadata key", "pair 3 of 7"}, patched("key:number", std::uint64_t{60000})},
      {"KeyAboveTheCap", bad_file, {"a metadata key", "65536 bytes", "at most 65535"}, patched("key:number", std::uint64_t{65536})},
      {"KeyLengthOfTwoTo63", bad_file, {"9223372036854775808"}, patched("key:number", std::uint64_t{1} << 63)},
      {"KeyLengthThatWraps", bad_file, {"18446744073709551615"}, patched("key:number", ~std::uint64_t{0})},
      {"EmptyKey", bad_file, {"key at byte 24 is empty", "pair 1 of 1"}, [] { return GgufWriter().add_u32("", 1).finish(); }},
      {"UnknownValueType", bad_file, {"value type", "is 13", "'number'"}, patched("type:number", 13u)},
      {"ValueTypeOfAllOnes", bad_file, {"4294967295", "'number'"}, patched("type:number", ~0u)},
      {"TextBeyondTheFile", truncated, {"a string value", "'text'"}, patched("value:text", std::uint64_t{10000})},
      {"TextAboveTheCap", bad_file, {"67108865 bytes", "'text'"}, patched("value:text", (std::uint64_t{64} << 20) + 1)},
      {"TextLengthThatWraps", bad_file, {"18446744073709551608", "'text'"}, patched("value:text", ~std::uint64_t{7})},
      {"TextLengthOfTwoTo32", bad_file, {"4294967296", "'text'"}, patched("value:text", std::uint64_t{1} << 32)},
      {"ArrayBeyondTheFile", truncated, {"an array", "needs 8000 bytes", "'array'"}, patched("count:array", std::uint64_t{1000})},
      {"ArrayAboveTheCap", bad_file, {"4194305", "'array'"}, patched("count:array", std::uint64_t{4194305})},
      {"ArrayCountThatWraps", bad_file, {"2305843009213693953", "'array'"}, patched("count:array", (std::uint64_t{1} << 61) + 1)},
      {"ArrayCountOfAllOnes", bad_file, {"'array'"}, patched("count:array", ~std::uint64_t{0})},
      {"TextArrayBeyondTheFile", truncated, {"an array of strings", "'texts'"}, patched("count:texts", std::uint64_t{4000})},
      {"TextArrayCountThatWraps", bad_file, {"'texts'"}, patched("count:texts", std::uint64_t{1} << 61)},
      {"TextInArrayBeyondTheFile", truncated, {"a string of an array", "'texts'"}, patched("count:texts", std::uint64_t{5000}, 8)},
      {"TextInArrayThatWraps", bad_file, {"'texts'"}, patched("count:texts", ~std::uint64_t{0}, 8)},
      {"UnknownElementType", bad_file, {"element type", "is 13", "'array'"}, patched("element_type:array", 13u)},
      {"NestedArray", bad_file, {"element type", "is 9", "'array'"}, patched("element_type:array", 9u)},
      {"EmptyArrayOfUnknownType", bad_file, {"is 77"}, [] { return GgufWriter().add_raw_array("a", 77, 0, {}).finish(); }},
      {"BoolOfTwo", bad_value, {"is 2", "0 or 1", "'flag'"}, patched("value:flag", std::uint8_t{2})},
      {"BoolOf255InArray", bad_value, {"is 255", "'flags'"}, patched("count:flags", std::uint8_t{255}, 9)},
      {"SameKeyTwice", bad_file, {"'twice'"}, [] { return GgufWriter().add_u32("twice", 1).add("x", "").add_u32("twice", 1).finish(); }},
      {"SameAlignmentTwice", bad_file, {"general.alignment"}, [] { return GgufWriter().set_alignment(32).set_alignment(32).finish(); }},
      {"ArchitectureAsNumber", bad_value, {"general.architecture", "u32 1"}, [] { return GgufWriter().add_u32("general.architecture", 1).finish(); }},
      {"ArchitectureAsArray", bad_value, {"general.architecture"}, [] { return GgufWriter().add_string_array("general.architecture", {"llama"}).finish(); }},
  };
}

std::vector<Refusal> alignment_refusals() {
  using enum ErrorCode;
  std::vector<Refusal> all = {
      {"AlignmentAsU64", bad_value, {"general.alignment", "u64", "expected u32"}, aligned_by([](W& w) { w.add_u64("general.alignment", 32); })},
      {"AlignmentAsI32", bad_value, {"i32"}, aligned_by([](W& w) { w.add_i32("general.alignment", 32); })},
      {"AlignmentAsText", bad_value, {"string"}, aligned_by([](W& w) { w.add("general.alignment", "32"); })},
      {"AlignmentAsArray", bad_value, {"array"}, aligned_by([](W& w) { w.add_u32_array("general.alignment", {32}); })},
  };
  for (const std::uint32_t number : {0u, 1u, 4u, 7u, 24u, 33u, 48u, 1u << 21, 1u << 31, ~0u}) {
    all.push_back({"Alignment" + std::to_string(number), bad_value, {"general.alignment", std::to_string(number), "power of two from 8 to 1048576"},
                   aligned_by([number](W& w) { w.add_u32("general.alignment", number); })});
  }
  return all;
}

std::vector<Refusal> tensor_refusals() {
  using enum ErrorCode;
  const std::uint64_t two63 = std::uint64_t{1} << 63;
  const std::uint64_t two62 = std::uint64_t{1} << 62;
  std::vector<Refusal> all = {
      {"TensorNameOf64Bytes", bad_file, {"64 bytes", "tensor 1 of 1"}, named(std::string(64, 'x'))},
      {"TensorNameBeyondTheFile", bad_file, {"a tensor name"}, patched("name:second", std::uint64_t{100000})},
      {"TensorNameThatWraps", bad_file, {"18446744073709551615"}, patched("name:second", ~std::uint64_t{0})},
      {"EmptyTensorName", bad_file, {"is empty"}, named("")},
      {"TensorNameWithZeroByte", bad_file, {"'a\\x00b'", "zero byte"}, named(std::string("a\0b", 3))},
      {"SameTensorTwice", bad_file, {"'w'"}, [] { return GgufWriter().add_zero_tensor("w", QuantType::f32, {1}).add_zero_tensor("w", QuantType::f32, {2}).finish(); }},
      {"SameEmptyTensorTwice", bad_file, {"'w'"}, [] { return GgufWriter().add_zero_tensor("w", QuantType::f32, {0}).add_zero_tensor("w", QuantType::f32, {0}).finish(); }},
      {"FiveDimensions", bad_file, {"'w'", "5 dimensions"}, with_dims(QuantType::f32, {1, 1, 1, 1, 1})},
      {"DimensionCountOfAllOnes", bad_file, {"'first'", "4294967295"}, patched("n_dims:first", ~0u)},
      {"DimensionOfTwoTo63", bad_file, {"'w'", "dimension 1", "9223372036854775808"}, with_dims(QuantType::f32, {1, two63})},
      {"DimensionOfAllOnes", bad_file, {"18446744073709551615"}, with_dims(QuantType::f32, {~std::uint64_t{0}})},
      {"ValuesThatWrapToZero", bad_file, {"'w' [4294967296,4294967296]"}, with_dims(QuantType::f32, {1ull << 32, 1ull << 32})},
      {"ValuesThatWrapToFew", bad_file, {"2^64"}, with_dims(QuantType::i8, {(1ull << 32) + 1, 1ull << 32, 1})},
      {"ValuesThatWrapInFourDimensions", bad_file, {"2^64"}, with_dims(QuantType::i8, {1 << 20, 1 << 20, 1 << 20, 1 << 20})},
      {"ValuesThatWrapBeforeAZeroDimension", bad_file, {"2^64"}, with_dims(QuantType::i8, {two62, two62, 0})},
      {"ValuesThatWrapAfterAZeroDimension", bad_file, {"2^64"}, with_dims(QuantType::i8, {0, two62, two62})},
      {"BytesThatWrap", bad_file, {"2^64"}, with_dims(QuantType::f64, {two62})},
      {"BytesOfBlocksThatWrap", bad_file, {"2^64"}, with_dims(QuantType::q8_0, {two62, 4})},
      {"BytesJustBelowTwoTo64", bad_file, {"ends beyond 2^64"}, with_dims(QuantType::i16, {two63 - 1})},
      {"ScalarOfAQuantType", bad_file, {"rows of 1 values", "multiple of 32"}, with_dims(QuantType::q4_0, {})},
      {"UnknownType", unsupported_quant, {"'blk.0.ffn_up.weight'", "type 43", "not known"}, of_type(43)},
      {"UnknownTypeOfAllOnes", unsupported_quant, {"4294967295"}, of_type(~0u)},
      {"OffsetNotAligned", bad_file, {"'two'", "offset 65", "multiple of 32"}, two_at(0, 65)},
      {"OffsetAlignedToLessThanAsked", bad_file, {"offset 32", "multiple of 64"}, [] {
         GgufWriter w;
         w.set_alignment(64).add_raw_tensor({.name = "w", .type_number = kF32, .dims = {1}, .n_dims = {}, .stated_offset = 32, .data = Bytes(128)});
         return w.finish();
       }},
      {"OffsetBeyondTheFile", truncated, {"'two'", "but the file has"}, two_at(0, 4096)},
      {"OffsetThatWraps", bad_file, {"'two'", "ends beyond 2^64"}, two_at(0, ~std::uint64_t{31})},
      {"OffsetThatWrapsWithTheDataStart", bad_file, {"2^64"}, two_at(0, ~std::uint64_t{31} - 128)},
      {"EmptyTensorBeyondTheFile", truncated, {"'w'"}, with_tensor({.name = "w", .type_number = kF32, .dims = {0}, .n_dims = {}, .stated_offset = 32, .data = {}})},
      {"SameOffsetTwice", bad_file, {"'one'", "overlaps", "'two'"}, two_at(0, 0)},
      {"PartOverlap", bad_file, {"'two'", "overlaps", "'one'"}, two_at(64, 32)},
      {"DataOneByteShort", truncated, {"'w' [16] F32", "but the file has"}, [] {
         GgufWriter w;
         Bytes file = w.add_zero_tensor("w", QuantType::f32, {16}).finish();
         file.pop_back();
         return file;
       }},
      {"NoDataAtAll", truncated, {"'w' [16] F32"}, [] {
         GgufWriter w;
         Bytes file = w.add_zero_tensor("w", QuantType::f32, {16}).finish();
         file.resize(w.header_bytes());
         return file;
       }},
  };
  for (const std::uint32_t number : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u}) {
    all.push_back({"RemovedType" + std::to_string(number), unsupported_quant, {"'blk.0.ffn_up.weight'", "type " + std::to_string(number), "removed"}, of_type(number)});
  }
  for (const TypeInfo& info : kTypeInfos) {
    if (info.block_elements == 1) continue;
    const std::string name(info.name);
    all.push_back({"RowsOfOneAndAHalfBlocksOf" + name, bad_file, {name, "multiple of " + std::to_string(info.block_elements)},
                   with_dims(info.type, {info.block_elements * 3u / 2u, 2})});
  }
  return all;
}

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithItsCodeAndWords) {
  const Refusal& refusal = GetParam();
  const Bytes file = refusal.make();
  const std::size_t before = test::allocated_bytes();
  const test::ParseResult result = Header::parse(file, file.size());
  EXPECT_LT(test::allocated_bytes() - before, 40 * file.size() + 8192);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(error_code_name(result.error().code), error_code_name(refusal.code)) << result.error().message;
  for (const std::string& word : refusal.words) {
    EXPECT_NE(result.error().message.find(word), std::string::npos) << word << " not in: " << result.error().message;
  }
  EXPECT_EQ(test::check_gguf_file(file), "");
}

std::string name_of(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Container, Refused, testing::ValuesIn(container_refusals()), name_of);
INSTANTIATE_TEST_SUITE_P(Pairs, Refused, testing::ValuesIn(pair_refusals()), name_of);
INSTANTIATE_TEST_SUITE_P(Alignment, Refused, testing::ValuesIn(alignment_refusals()), name_of);
INSTANTIATE_TEST_SUITE_P(Tensors, Refused, testing::ValuesIn(tensor_refusals()), name_of);

// The patches above must be what is refused: without one the file is good.
TEST(Refused, NotWithoutThePatch) {
  const Header header = test::parse_ok(patched("value:number", 1u)());
  EXPECT_EQ(header.tensors().size(), 2u);
}

}  // namespace
}  // namespace layerstream::gguf

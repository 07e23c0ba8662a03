// SPDX-License-Identifier: MIT
// Typed getters: which stored types stand for which asked ones, and what the errors say.

#include <cmath>
#include <limits>

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

using test::GgufWriter;
using test::parse_ok;
using Texts = std::vector<std::string_view>;

template <typename T>
void expect_bad_value(const Result<T>& result, std::initializer_list<std::string_view> fragments) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::bad_value);
  for (const std::string_view fragment : fragments) {
    EXPECT_NE(result.error().message.find(fragment), std::string::npos) << fragment << " not in: " << result.error().message;
  }
}

TEST(Metadata, AbsentKeyIsNulloptForEveryGetter) {
  const Header header = parse_ok(GgufWriter().add_u32("a", 1).finish());
  const Metadata& metadata = header.metadata();
  EXPECT_FALSE(metadata.has("b"));
  EXPECT_EQ(metadata.find("b"), nullptr);
  EXPECT_EQ(metadata.get_uint("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_int("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_float("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_bool("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_string("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_int_array("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_float_array("b").value(), std::nullopt);
  EXPECT_EQ(metadata.get_string_array("b").value(), std::nullopt);
}

TEST(Metadata, UintTakesEveryIntegerWidthAtItsLimit) {
  const Header header = parse_ok(GgufWriter()
                                     .add_u8("u8", 255).add_i8("i8", 127).add_u16("u16", 65535).add_i16("i16", 32767)
                                     .add_u32("u32", 0xffffffffu).add_i32("i32", 0x7fffffff)
                                     .add_u64("u64", ~0ull).add_i64("i64", std::numeric_limits<std::int64_t>::max())
                                     .finish());
  const Metadata& metadata = header.metadata();
  EXPECT_EQ(metadata.get_uint("u8").value(), 255u);
  EXPECT_EQ(metadata.get_uint("i8").value(), 127u);
  EXPECT_EQ(metadata.get_uint("u16").value(), 65535u);
  EXPECT_EQ(metadata.get_uint("i16").value(), 32767u);
  EXPECT_EQ(metadata.get_uint("u32").value(), 0xffffffffu);
  EXPECT_EQ(metadata.get_uint("i32").value(), 0x7fffffffu);
  EXPECT_EQ(metadata.get_uint("u64").value(), ~0ull);
  EXPECT_EQ(metadata.get_uint("i64").value(), 0x7fffffffffffffffull);
  EXPECT_EQ(metadata.get_int("u32").value(), 0xffffffffll);
  expect_bad_value(metadata.get_int("u64"), {"'u64'", "u64 18446744073709551615", "expected an integer"});
}

TEST(Metadata, NegativeIntegersAreIntsButNotUints) {
  const Header header = parse_ok(GgufWriter()
                                     .add_i8("i8", -128).add_i16("i16", -32768).add_i32("i32", -1)
                                     .add_i64("i64", std::numeric_limits<std::int64_t>::min()).finish());
  const Metadata& metadata = header.metadata();
  EXPECT_EQ(metadata.get_int("i8").value(), -128);
  EXPECT_EQ(metadata.get_int("i16").value(), -32768);
  EXPECT_EQ(metadata.get_int("i32").value(), -1);
  EXPECT_EQ(metadata.get_int("i64").value(), std::numeric_limits<std::int64_t>::min());
  for (const char* key : {"i8", "i16", "i32", "i64"}) expect_bad_value(metadata.get_uint(key), {key, "expected a non-negative integer"});
}

TEST(Metadata, PaddingIdOfMinusOneStoredUnsignedStaysReadable) {
  const Header header = parse_ok(GgufWriter().add_u32("tokenizer.ggml.padding_token_id", 0xffffffffu).finish());
  EXPECT_EQ(header.metadata().get_uint("tokenizer.ggml.padding_token_id").value(), 4294967295u);
}

TEST(Metadata, FloatTakesFloatsAndIntegersButNoBoolsOrTexts) {
  const Header header = parse_ok(GgufWriter()
                                     .add_f32("f32", 0.1f).add_f64("f64", 1e300).add_i32("i32", -3).add_u64("u64", 1ull << 40)
                                     .add_f32("nan", std::nanf("")).add_bool("bool", true).add("text", "1.0").finish());
  const Metadata& metadata = header.metadata();
  EXPECT_EQ(metadata.get_float("f32").value(), static_cast<double>(0.1f));
  EXPECT_EQ(metadata.get_float("f64").value(), 1e300);
  EXPECT_EQ(metadata.get_float("i32").value(), -3.0);
  EXPECT_EQ(metadata.get_float("u64").value(), 1099511627776.0);
  EXPECT_TRUE(std::isnan(**metadata.get_float("nan")));
  expect_bad_value(metadata.get_float("bool"), {"'bool'", "bool true", "expected a number"});
  expect_bad_value(metadata.get_float("text"), {"'text'", "a string"});
  expect_bad_value(metadata.get_uint("f32"), {"'f32'", "f32"});
  expect_bad_value(metadata.get_uint("bool"), {"'bool'"});
}

TEST(Metadata, BoolTakesBoolsAndIntegersZeroAndOne) {
  const Header header = parse_ok(GgufWriter()
                                     .add_bool("t", true).add_bool("f", false).add_u32("one", 1).add_i8("zero", 0)
                                     .add_u8("two", 2).add_i32("minus", -1).add_f32("float", 1.0f).finish());
  const Metadata& metadata = header.metadata();
  EXPECT_EQ(metadata.get_bool("t").value(), true);
  EXPECT_EQ(metadata.get_bool("f").value(), false);
  EXPECT_EQ(metadata.get_bool("one").value(), true);
  EXPECT_EQ(metadata.get_bool("zero").value(), false);
  expect_bad_value(metadata.get_bool("two"), {"'two'", "u8 2", "expected a bool"});
  expect_bad_value(metadata.get_bool("minus"), {"'minus'", "i32 -1"});
  expect_bad_value(metadata.get_bool("float"), {"'float'"});
}

TEST(Metadata, StringsKeepEveryByte) {
  const std::string bytes("\0a\xff\xc3\xa9\n", 6);
  const Header header = parse_ok(GgufWriter().add("text", bytes).add("empty", "").add_u32("number", 1).finish());
  EXPECT_EQ(header.metadata().get_string("text").value(), bytes);
  EXPECT_EQ(header.metadata().get_string("empty").value(), "");
  expect_bad_value(header.metadata().get_string("number"), {"'number'", "u32 1", "expected a string"});
}

TEST(Metadata, IntArrayTakesIntegersBoolsAndWholeFloats) {
  const Header header = parse_ok(GgufWriter()
                                     .add_i32_array("i32", {-1, 2}).add_bool_array("bool", {true, false, true})
                                     .add_f32_array("f32", {3.0f, -4.0f}).add_f32_array("half", {1.0f, 0.5f})
                                     .add_f64_array("inf", {std::numeric_limits<double>::infinity()}).add_f32_array("nan", {std::nanf("")})
                                     .add_u64_array("big", {1, 1ull << 63}).add_string_array("text", {"a"}).add_u32("scalar", 1)
                                     .finish());
  const Metadata& metadata = header.metadata();
  EXPECT_EQ(metadata.get_int_array("i32").value(), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(metadata.get_int_array("bool").value(), (std::vector<std::int64_t>{1, 0, 1}));
  EXPECT_EQ(metadata.get_int_array("f32").value(), (std::vector<std::int64_t>{3, -4}));
  expect_bad_value(metadata.get_int_array("half"), {"'half'", "element 1", "0.5", "expected integer"});
  expect_bad_value(metadata.get_int_array("inf"), {"element 0"});
  expect_bad_value(metadata.get_int_array("nan"), {"element 0"});
  expect_bad_value(metadata.get_int_array("big"), {"element 1", "9223372036854775808"});
  expect_bad_value(metadata.get_int_array("text"), {"'text'", "an array of 1 string"});
  expect_bad_value(metadata.get_int_array("scalar"), {"'scalar'", "u32 1", "an array of integers"});
}

TEST(Metadata, FloatArrayTakesIntegerScores) {
  const Header header = parse_ok(GgufWriter()
                                     .add_i32_array("tokenizer.ggml.scores", {0, -1000}).add_f32_array("f32", {0.5f})
                                     .add_f64_array("f64", {-0.25}).add_bool_array("bool", {true}).finish());
  EXPECT_EQ(header.metadata().get_float_array("tokenizer.ggml.scores").value(), (std::vector<double>{0, -1000}));
  EXPECT_EQ(header.metadata().get_float_array("f32").value(), (std::vector<double>{0.5}));
  EXPECT_EQ(header.metadata().get_float_array("f64").value(), (std::vector<double>{-0.25}));
  expect_bad_value(header.metadata().get_float_array("bool"), {"element 0", "bool true", "expected number"});
}

TEST(Metadata, StringArrayIsRefusedForOtherTypes) {
  const Header header = parse_ok(GgufWriter()
                                     .add_string_array("texts", {"", "a", std::string("\0b", 2)}).add("text", "a").add_u8_array("bytes", {97})
                                     .finish());
  EXPECT_EQ(header.metadata().get_string_array("texts").value(), (Texts{"", "a", std::string_view("\0b", 2)}));
  expect_bad_value(header.metadata().get_string_array("text"), {"'text'", "a string", "an array of strings"});
  expect_bad_value(header.metadata().get_string_array("bytes"), {"'bytes'", "an array of 1 u8"});
}

TEST(Metadata, EmptyArrayPassesAsAnyArray) {
  const Header header = parse_ok(GgufWriter().add_u32_array("numbers", {}).add_string_array("texts", {}).finish());
  for (const char* key : {"numbers", "texts"}) {
    EXPECT_TRUE((*header.metadata().get_int_array(key))->empty());
    EXPECT_TRUE((*header.metadata().get_float_array(key))->empty());
    EXPECT_TRUE((*header.metadata().get_string_array(key))->empty());
  }
}

TEST(Metadata, PairsKeepFileOrder) {
  const Header header = parse_ok(GgufWriter().add_u32("z", 1).add("a", "x").add_u32_array("m", {1, 2, 3}).finish());
  const auto pairs = header.metadata().pairs();
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].key, "z");
  EXPECT_EQ(pairs[1].key, "a");
  EXPECT_EQ(pairs[2].key, "m");
  EXPECT_EQ(pairs[2].value.type, ValueType::array);
  EXPECT_EQ(pairs[2].value.element_type, ValueType::u32);
  EXPECT_EQ(pairs[2].value.count, 3u);
  EXPECT_EQ(pairs[2].value.bytes.size(), 12u);
}

TEST(Metadata, MessagesEscapeAndShortenHostileKeys) {
  const std::string key = "evil\x1b[2J\n" + std::string(5000, 'x');
  const Header header = parse_ok(GgufWriter().add(key, "text").finish());
  const auto result = header.metadata().get_uint(key);
  expect_bad_value(result, {"'evil\\x1b[2J\\x0a", "(5009 bytes)"});
  EXPECT_LT(result.error().message.size(), 300u);
}

TEST(Metadata, EveryValueTypeHasItsOwnNameAndWidth) {
  std::vector<std::string_view> names;
  for (std::uint32_t number = 0; number <= 12; ++number) names.push_back(value_type_name(static_cast<ValueType>(number)));
  EXPECT_EQ(names, (Texts{"u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"}));
  EXPECT_EQ(value_type_name(static_cast<ValueType>(13)), "unknown");
  EXPECT_EQ(value_type_bytes(ValueType::boolean), 1u);
  EXPECT_EQ(value_type_bytes(ValueType::i16), 2u);
  EXPECT_EQ(value_type_bytes(ValueType::f32), 4u);
  EXPECT_EQ(value_type_bytes(ValueType::f64), 8u);
  EXPECT_EQ(value_type_bytes(ValueType::string), 0u);
}

}  // namespace
}  // namespace layerstream::gguf

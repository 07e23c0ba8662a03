// SPDX-License-Identifier: MIT
// Parsing while the file arrives: any cut of a good file gives NeedMore or the header, never an error;
// requests grow enough to cost linear work, and never beyond the file.

#include <algorithm>

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

using test::Bytes;
using test::GgufWriter;
using test::is_need_more;
using test::ParseResult;

// Some of everything, in about a kilobyte.
Bytes small_model() {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add_u32("llama.block_count", 2).add_bool("b", true).add_f64("d", 1.5);
  writer.add_string_array("tokenizer.ggml.tokens", {"<unk>", "", "abc"}).add_f32_array("scores", {1, 2, 3});
  writer.add_bool_array("pattern", {true, false}).set_alignment(64);
  writer.add_zero_tensor("token_embd.weight", QuantType::q4_0, {32, 3}).add_zero_tensor("norm", QuantType::f32, {5});
  return writer.finish();
}

TEST(Prefix, EveryCutOfAGoodFileGivesNeedMoreOrTheSameHeader) {
  const Bytes file = small_model();
  const Header whole = test::parse_ok(file);
  for (std::size_t cut = 0; cut <= file.size(); ++cut) {
    ParseResult result = test::parse_exact(std::span(file).first(cut), file.size());
    ASSERT_TRUE(result) << "cut " << cut << ": " << result.error().message;
    ASSERT_EQ(is_need_more(result), cut < whole.header_bytes()) << cut;
    if (is_need_more(result)) {
      const std::uint64_t need = std::get<NeedMore>(*result).prefix_bytes;
      ASSERT_GT(need, cut);
      ASSERT_LE(need, file.size());
      continue;
    }
    const Header& header = std::get<Header>(*result);
    EXPECT_EQ(header.header_bytes(), whole.header_bytes());
    EXPECT_EQ(header.data_offset(), whole.data_offset());
    EXPECT_EQ(header.metadata().pairs().size(), whole.metadata().pairs().size());
    EXPECT_EQ(header.tensors()[1].offset, whole.tensors()[1].offset);
    EXPECT_EQ(header.metadata().get_string_array("tokenizer.ggml.tokens").value(), whole.metadata().get_string_array("tokenizer.ggml.tokens").value());
  }
}

TEST(Prefix, EveryCutOfRandomFilesGivesNeedMoreOrTheHeader) {
  for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
    const test::RandomFile file = test::make_random_file(seed);
    for (std::size_t cut = 0; cut <= file.header_bytes; ++cut) {
      const ParseResult result = test::parse_exact(std::span(file.bytes).first(cut), file.bytes.size());
      ASSERT_TRUE(result) << "seed " << seed << " cut " << cut << ": " << result.error().message;
      ASSERT_EQ(is_need_more(result), cut < file.header_bytes) << "seed " << seed << " cut " << cut;
    }
  }
}

TEST(Prefix, RandomStepsEndInTheHeader) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const test::RandomFile file = test::make_random_file(seed);
    test::Random random(seed);
    std::size_t prefix_bytes = 0;
    ParseResult result = test::parse_exact({}, file.bytes.size());
    while (is_need_more(result)) {
      prefix_bytes = std::min<std::size_t>(prefix_bytes + 1 + static_cast<std::size_t>(test::below(random, 100)), file.bytes.size());
      result = test::parse_exact(std::span(file.bytes).first(prefix_bytes), file.bytes.size());
    }
    ASSERT_TRUE(result) << result.error().message;
    file.check(std::get<Header>(*result));
  }
}

TEST(Prefix, ALongerPrefixThanTheHeaderIsFineAndOnlyTheHeaderIsKept) {
  GgufWriter writer;
  writer.add_u32("a", 1).add_zero_tensor("w", QuantType::f32, {1u << 20});
  const Bytes file = writer.finish();
  const std::size_t before = test::allocated_bytes();
  const ParseResult result = Header::parse(file, file.size());
  EXPECT_LT(test::allocated_bytes() - before, 4096u);  // of 4 MiB
  ASSERT_TRUE(result && std::holds_alternative<Header>(*result));
  EXPECT_EQ(std::get<Header>(*result).header_bytes(), writer.header_bytes());
}

TEST(Prefix, APrefixLongerThanTheFileIsTheCallersFault) {
  const Bytes file = small_model();
  const ParseResult result = Header::parse(file, file.size() - 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_argument);
}

TEST(Prefix, RequestsDoubleAndStayInTheFile) {
  GgufWriter writer;
  writer.add_string_array("tokens", std::vector<std::string>(100000, "token text"));
  const Bytes file = writer.finish();
  std::uint64_t prefix_bytes = 0;
  int calls = 0;
  for (; calls < 20; ++calls) {
    const ParseResult result = Header::parse(std::span(file).first(static_cast<std::size_t>(prefix_bytes)), file.size());
    ASSERT_TRUE(result) << result.error().message;
    if (!is_need_more(result)) break;
    const std::uint64_t need = std::get<NeedMore>(*result).prefix_bytes;
    EXPECT_GE(need, std::min<std::uint64_t>(2 * prefix_bytes, file.size()));
    EXPECT_LE(need, file.size());
    prefix_bytes = need;
  }
  EXPECT_EQ(calls, 6);  // 64 KiB << 5 > 1.8 MB
}

TEST(Prefix, AsksAtOnceForWhatOneLongValueNeeds) {
  GgufWriter writer;
  writer.add_u8_array("charsmap", std::vector<std::uint8_t>(1u << 20));
  const Bytes file = writer.finish();
  const ParseResult result = test::parse_exact(std::span(file).first(writer.offset_of("value:charsmap") + 12), file.size());
  ASSERT_TRUE(is_need_more(result));
  EXPECT_EQ(std::get<NeedMore>(*result).prefix_bytes, file.size());
}

TEST(Prefix, AnAttemptThatEndsInNeedMoreCostsNoMoreMemoryThanItsPrefix) {
  GgufWriter writer;
  writer.override_pair_count(100000).override_tensor_count(100000).add_u32_array("a", {1, 2, 3});
  Bytes file = writer.finish();
  test::patch(file, writer.offset_of("count:a"), std::uint64_t{4000000});
  const std::size_t before = test::allocated_bytes();
  const ParseResult result = Header::parse(file, std::uint64_t{1} << 40);
  EXPECT_LT(test::allocated_bytes() - before, 1024u);
  ASSERT_TRUE(is_need_more(result));
  EXPECT_GE(std::get<NeedMore>(*result).prefix_bytes, 16000000u);
}

TEST(Prefix, WhatIsWrongIsSaidBeforeTheRestArrives) {
  GgufWriter writer;
  writer.add_raw("odd", 99, {}).add_string_array("later", std::vector<std::string>(1000, "x"));
  const Bytes file = writer.finish();
  const ParseResult result = test::parse_exact(std::span(file).first(writer.offset_of("value:odd")), file.size());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_file);
}

TEST(Prefix, HeadersBeyondTheCapAreRefusedWithoutReadingThatFar) {
  GgufWriter writer;
  const std::uint64_t length = std::uint64_t{64} << 20;
  writer.add("a", "").add("b", "");
  Bytes file = writer.finish();
  test::patch(file, writer.offset_of("value:a"), length);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(writer.offset_of("value:a") + 8), static_cast<std::size_t>(length), std::byte{'x'});
  test::patch(file, writer.offset_of("value:b") + static_cast<std::size_t>(length), length);  // together more than 128 MiB
  const ParseResult result = Header::parse(file, std::uint64_t{1} << 40);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_file);
  EXPECT_NE(result.error().message.find("longer than 134217728 bytes"), std::string::npos) << result.error().message;
  // On the way there no request goes beyond the cap.
  const ParseResult earlier = Header::parse(std::span(file).first(static_cast<std::size_t>(length) + 8), std::uint64_t{1} << 40);
  ASSERT_TRUE(is_need_more(earlier));
  EXPECT_LE(std::get<NeedMore>(*earlier).prefix_bytes, std::uint64_t{128} << 20);
}

}  // namespace
}  // namespace layerstream::gguf

// SPDX-License-Identifier: MIT
// Utf8Stream: maximal subparts, and the same text however the bytes are cut.

#include "tokenizer_test_util.h"
#include "base/utf8.h"

namespace layerstream::test {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

std::string one_shot(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

TEST(Utf8Stream, EveryCodePointPassesUnchanged) {
  for (char32_t code = 0; code < 0x110000; code += code < 0x3000 ? 1 : 37) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    ASSERT_EQ(one_shot(text), text) << std::hex << static_cast<std::uint32_t>(code);
    const utf8::Unit unit = utf8::next_unit(text);
    ASSERT_EQ(unit.kind, utf8::UnitKind::valid);
    ASSERT_EQ(unit.code_point, code);
    ASSERT_EQ(unit.bytes, text.size());
  }
}

// The examples of the Unicode standard (chapter 3.9, tables 3-8 to 3-11) and single rules.
TEST(Utf8Stream, EachMaximalSubpartBecomesOneReplacement) {
  struct Case {
    std::string bytes;
    std::string text;
  };
  const Case cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", kBad + kBad + kBad + kBad + kBad + "A" + kBad + kBad + "B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", kBad + kBad + kBad + kBad + "A"},
      {"\x80", kBad},
      {"\xF5\x80", kBad + kBad},
      {"\xC3", kBad},
      {"\xF0\x9F\x98", kBad},
      {"a\xE2\x82", "a" + kBad},
      {"", ""},
  };
  for (const Case& one : cases) EXPECT_EQ(one_shot(one.bytes), one.text) << testing::PrintToString(one.bytes);
}

TEST(Utf8Stream, TextIsEmittedAsSoonAsItIsCertain) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("\xE2"), "");
  EXPECT_EQ(stream.push("\x82"), "");
  EXPECT_EQ(stream.push("\xAC!"), "\xE2\x82\xAC!");
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.push("a"), kBad + "a");
  EXPECT_EQ(stream.push("\xFF"), kBad);
  EXPECT_EQ(stream.push("\xF0\x9F\x98"), "");
  EXPECT_EQ(stream.finish(), kBad);
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.push("\xA4"), kBad) << "finish() forgets what was pending";
}

TEST(Utf8Stream, CutsDoNotMatter) {
  Random random(11);
  for (int round = 0; round < 3000; ++round) {
    const std::string bytes = round % 2 == 0 ? random_bytes(random, 40) : random_utf8(random, 20) + random_bytes(random, 4);
    Utf8Stream stream;
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t part = below(random, 4);
      text += stream.push(std::string_view(bytes).substr(at, part));
      at += part;
    }
    text += stream.finish();
    ASSERT_EQ(text, one_shot(bytes)) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace layerstream::test

// SPDX-License-Identifier: MIT
// The hand-written splitters against the published expressions, as a regular-expression engine applied them
// (pretokenizer_cases.json, written by scripts/unicode/pretokenizer-cases.mjs).

#include "tokenizer/pretokenizers.h"

#include <numeric>

#include "support/json.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

constexpr const char* kAll[] = {"gpt-2", "phi-2", "llama-bpe", "llama3", "llama-v3", "smaug-bpe", "dbrx",
                                "qwen2", "deepseek-r1-qwen", "tekken", "smollm", "starcoder"};

std::vector<std::string> pieces_of(std::string_view name, std::string_view text) {
  const PreTokenizer* pre_tokenizer = find_pre_tokenizer(name);
  std::vector<std::string> out;
  if (pre_tokenizer == nullptr) return out;
  for (const std::uint32_t bytes : split_pieces(*pre_tokenizer, text)) {
    out.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

TEST(PreTokenizers, CutAsThePublishedExpressionsDo) {
  const auto data = Json::read_file(kSourceDir + "/tests/unit/tokenizer/pretokenizer_cases.json");
  ASSERT_TRUE(data.has_value());
  ASSERT_EQ(data->at("cases").array().size(), 400u);
  for (const Json& one : data->at("cases").array()) {
    const std::string& text = one.at("text").string();
    ASSERT_EQ(one.at("pieces").object().size(), 5u);
    for (const auto& [name, lengths] : one.at("pieces").object()) {
      const PreTokenizer* pre_tokenizer = find_pre_tokenizer(name);
      ASSERT_NE(pre_tokenizer, nullptr) << name;
      const std::vector<std::uint32_t> pieces = split_pieces(*pre_tokenizer, text);
      EXPECT_EQ(std::vector<std::int32_t>(pieces.begin(), pieces.end()), lengths.ints()) << name << ": " << text;
    }
  }
}

TEST(PreTokenizers, Gpt2LeavesTheLastSpaceToTheWord) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces_of("gpt-2", "I'll  go, we've 12 \n"), (List{"I", "'ll", " ", " go", ",", " we", "'ve", " 12", " \n"}));
  EXPECT_EQ(pieces_of("gpt-2", "I'LL"), (List{"I", "'", "LL"})) << "lower case only";
  EXPECT_EQ(pieces_of("gpt-2", "\n\n\nx"), (List{"\n\n", "\n", "x"}));
  EXPECT_EQ(pieces_of("gpt-2", "   "), (List{"   "}));
}

TEST(PreTokenizers, Llama3TakesThreeDigitsAndQwen2One) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces_of("llama-bpe", "12345 I'LL"), (List{"123", "45", " I", "'LL"}));
  EXPECT_EQ(pieces_of("qwen2", "123.\n\nx"), (List{"1", "2", "3", ".\n\n", "x"}));
  EXPECT_EQ(pieces_of("smollm", "a 12"), (List{"a", " ", "1", "2"}));
}

TEST(PreTokenizers, TekkenCutsBeforeACapital) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces_of("tekken", "helloWorld HTTPServer"), (List{"hello", "World", " HTTPServer"}));
  EXPECT_EQ(pieces_of("tekken", "ABCdef/"), (List{"ABCdef", "/"}));
}

TEST(PreTokenizers, PiecesAlwaysJoinToTheText) {
  Random random(3);
  for (const char* name : kAll) {
    for (int round = 0; round < 500; ++round) {
      const std::string text = round % 2 == 0 ? random_utf8(random, 30) : random_bytes(random, 40);
      std::string joined;
      for (const std::string& piece : pieces_of(name, text)) {
        ASSERT_FALSE(piece.empty());
        joined += piece;
      }
      ASSERT_EQ(joined, text) << name;
    }
  }
}

TEST(PreTokenizers, UnknownNamesAndSizesAreNotGuessed) {
  EXPECT_EQ(find_pre_tokenizer("default"), nullptr);
  EXPECT_EQ(find_pre_tokenizer(""), nullptr);
  EXPECT_EQ(find_pre_tokenizer("gpt-2 "), nullptr);
  EXPECT_EQ(guess_pre_tokenizer(50432), nullptr);
  const auto guess = [](std::size_t size) { return guess_pre_tokenizer(size) ? guess_pre_tokenizer(size)->name : "none"; };
  EXPECT_EQ(guess(50257), "gpt-2");
  EXPECT_EQ(guess(51200), "gpt-2");
  EXPECT_EQ(guess(128256), "llama-bpe");
  EXPECT_EQ(guess(151936), "qwen2");
  EXPECT_EQ(guess(152064), "qwen2");
  EXPECT_EQ(guess(131072), "tekken");
}

TEST(UnicodeClasses, KnownCodePointsHaveTheirClass) {
  using namespace unicode;
  EXPECT_EQ(classes_of('a'), kLetter | kLower);
  EXPECT_EQ(classes_of(0x410), kLetter | kUpper);
  EXPECT_EQ(classes_of(0x1C5), kLetter | kUpper) << "title case";
  EXPECT_EQ(classes_of(0x101), kLetter | kLower) << "a run of stride 2";
  EXPECT_EQ(classes_of(0x100), kLetter | kUpper);
  EXPECT_EQ(classes_of(0x4E00), kLetter);
  EXPECT_EQ(classes_of(0x323AF), kLetter) << "the last CJK extension";
  EXPECT_EQ(classes_of(0x323B0), 0);
  EXPECT_EQ(classes_of(0xBD), kNumber);
  EXPECT_EQ(classes_of(0x0301), kMark);
  for (const char32_t space : {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x202F, 0x205F, 0x3000}) {
    EXPECT_EQ(classes_of(space), kSpace) << std::hex << static_cast<std::uint32_t>(space);
  }
  for (const char32_t other : {0x00, 0x1C, 0x200B, 0xFEFF, 0xFFFD, 0x1F600, 0x10FFFF, 0x110000, 0x7FFFFFFF}) {
    EXPECT_EQ(classes_of(other), 0) << std::hex << static_cast<std::uint32_t>(other);
  }
}

// Sizes of the classes in Unicode 16.0, counted over all code points: a cut or shifted table shows here.
TEST(UnicodeClasses, HaveTheSizesOfUnicode16) {
  using namespace unicode;
  std::size_t letters = 0, numbers = 0, marks = 0, spaces = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    const Classes classes = classes_of(code);
    letters += (classes & kLetter) != 0;
    numbers += (classes & kNumber) != 0;
    marks += (classes & kMark) != 0;
    spaces += (classes & kSpace) != 0;
  }
  EXPECT_EQ(letters, 141028u);
  EXPECT_EQ(numbers, 1911u);
  EXPECT_EQ(marks, 2501u);
  EXPECT_EQ(spaces, 25u);
}

}  // namespace
}  // namespace layerstream::test

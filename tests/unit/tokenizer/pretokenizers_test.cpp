// SPDX-License-Identifier: MIT
// The hand-written splitters against the published expressions, as a regular-expression engine applied them
// (pretokenizer_cases.json, written by scripts/unicode/pretokenizer-cases.mjs).

#include "tokenizer/pretokenizers.h"

#include <numeric>

#include "support/json.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

// One name of each pattern: those of pretokenizer_cases.json.
constexpr const char* kPatterns[] = {"gpt-2", "llama-bpe", "qwen2", "tekken", "gpt-4o", "smollm", "seed-coder",
                                     "deepseek-llm", "deepseek-coder", "deepseek-v3", "default", "falcon", "viking"};

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
  ASSERT_EQ(data->at("cases").array().size(), 600u);
  for (const Json& one : data->at("cases").array()) {
    const std::string& text = one.at("text").string();
    ASSERT_EQ(one.at("pieces").object().size(), std::size(kPatterns));
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
  for (const char* name : kPatterns) {
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

TEST(PreTokenizers, DeepSeeksChainsCutLinesScriptsAndNumbersApart) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces_of("deepseek-llm", "def f(x1):\n\n  return "), (List{"def", " f", "(", "x", "1", "):", "\n", "\n", " ", " return", " "}));
  EXPECT_EQ(pieces_of("deepseek-coder", "def f(x1):\n"), (List{"def", " f", "(", "x", "1", "):", "\n"}));
  EXPECT_EQ(pieces_of("deepseek-v3", "x.append(12345) \xE4\xBD\xA0\xE5\xA5\xBD"),
            (List{"x", ".append", "(", "123", "45", ")", " ", "\xE4\xBD\xA0\xE5\xA5\xBD"}));
}

TEST(PreTokenizers, TheFallbackCutsPunctuationAndEveryThreeDigits) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces_of("default", "I'm 12345$`"), (List{"I", "'", "m", " ", "123", "45", "$", "`"}));
  EXPECT_EQ(pieces_of("falcon", "12345$`"), (List{"123", "45", "$`"}));
}

TEST(PreTokenizers, NamesWithOnePatternShareIt) {
  const std::pair<const char*, std::vector<const char*>> kFamilies[] = {
      {"gpt-2", {"phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "gigachat", "a.x-4.0", "mellum", "exaone4"}},
      {"smollm", {"starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"}},
      {"llama-bpe", {"llama3", "llama-v3", "falcon3", "pixtral", "midm-2.0", "lfm2", "smaug-bpe", "dbrx", "chatglm-bpe", "glm4"}},
      {"qwen2", {"deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "kormo"}},
      {"gpt-4o", {"llama4", "kanana2"}}};
  for (const auto& [name, aliases] : kFamilies) {
    for (const char* alias : aliases) {
      ASSERT_NE(find_pre_tokenizer(alias), nullptr) << alias;
      EXPECT_EQ(find_pre_tokenizer(alias)->stages.data(), find_pre_tokenizer(name)->stages.data()) << alias;
    }
  }
}

// A scan that starts over at every place would take minutes for each of these.
TEST(PreTokenizers, LongRunsAreCutInOnePass) {
  const std::string units[] = {" ", "\n", " \n", "\t ", "1", "a", "A", "aA", "'", "!", "a ", "\xCC\x81", "\xCA\xB0" "A", "\xE4\xB8\x80", "\x01",
                               "\xF0\x9F\x98\x80", "\xFF", "\xE3\x80\x80"};
  for (const char* name : kPatterns) {
    for (const std::string& unit : units) {
      std::string text;
      while (text.size() < 100000) text += unit;
      text += "a";
      std::size_t bytes = 0;
      for (const std::uint32_t piece : split_pieces(*find_pre_tokenizer(name), text)) bytes += piece;
      ASSERT_EQ(bytes, text.size()) << name;
    }
  }
}

TEST(PreTokenizers, UnknownNamesAreNotGuessed) {
  EXPECT_EQ(find_pre_tokenizer(""), nullptr);
  EXPECT_EQ(find_pre_tokenizer("gpt-2 "), nullptr);
  EXPECT_EQ(find_pre_tokenizer("gpt-5"), nullptr);
}

TEST(PreTokenizers, KnownVocabularySizesTellTheFamily) {
  const auto guess = [](std::size_t size) { return guess_pre_tokenizer(size) ? guess_pre_tokenizer(size)->name : "none"; };
  EXPECT_EQ(guess(50257), "gpt-2");
  EXPECT_EQ(guess(51200), "phi-2");
  EXPECT_EQ(guess(128256), "llama-bpe");
  EXPECT_EQ(guess(151936), "qwen2");
  EXPECT_EQ(guess(152064), "qwen2");
  EXPECT_EQ(guess(152065), "none");
  EXPECT_EQ(guess(131072), "tekken");
  EXPECT_EQ(guess(32256), "deepseek-coder");
  EXPECT_EQ(guess(102400), "deepseek-llm");
  EXPECT_EQ(guess(49152), "starcoder");
  EXPECT_EQ(guess(50432), "none");
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
  for (const char32_t mark : {0x21, 0x5F, 0xAB, 0x3001, 0xFF01}) EXPECT_EQ(classes_of(mark), kPunctuation);
  for (const char32_t symbol : {0x24, 0x60, 0x20AC, 0xFFFD, 0x1F600}) EXPECT_EQ(classes_of(symbol), kSymbol);
  for (const char32_t other : {0x00, 0x1C, 0x200B, 0xFEFF, 0xE000, 0x10FFFF, 0x110000, 0x7FFFFFFF}) {
    EXPECT_EQ(classes_of(other), 0) << std::hex << static_cast<std::uint32_t>(other);
  }
}

// Sizes of the classes in Unicode 16.0, counted over all code points: a cut or shifted table shows here.
TEST(UnicodeClasses, HaveTheSizesOfUnicode16) {
  using namespace unicode;
  std::size_t letters = 0, numbers = 0, marks = 0, spaces = 0, punctuation = 0, symbols = 0, cased = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    const Classes classes = classes_of(code);
    letters += (classes & kLetter) != 0;
    numbers += (classes & kNumber) != 0;
    marks += (classes & kMark) != 0;
    spaces += (classes & kSpace) != 0;
    punctuation += (classes & kPunctuation) != 0;
    symbols += (classes & kSymbol) != 0;
    cased += is_cased_script_letter(code);
  }
  EXPECT_EQ(letters, 141028u);
  EXPECT_EQ(numbers, 1911u);
  EXPECT_EQ(marks, 2501u);
  EXPECT_EQ(spaces, 25u);
  EXPECT_EQ(punctuation, 855u);
  EXPECT_EQ(symbols, 8514u);
  EXPECT_EQ(cased, 2729u);
}

}  // namespace
}  // namespace layerstream::test

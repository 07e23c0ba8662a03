// SPDX-License-Identifier: MIT
// The gpt2 kind on generated vocabularies: the byte alphabet, merging against the definition, odd merge lists.

#include <algorithm>

#include "tokenizer/normalization.h"
#include "tokenizer/vocabulary.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

const std::string kSpace = "\xC4\xA0";  // the stand-in of the space, U+0120

TEST(ByteAlphabet, IsTheKnownOne) {
  const auto encoded = [](std::string_view bytes) {
    std::string out;
    byte_alphabet::append_encoded(out, bytes);
    return out;
  };
  EXPECT_EQ(encoded(" "), kSpace);
  EXPECT_EQ(encoded("\n"), "\xC4\x8A");
  EXPECT_EQ(encoded("aZ~!"), "aZ~!");
  EXPECT_EQ(encoded("\xAD"), "\xC5\x83");
  EXPECT_EQ(encoded(std::string_view("\0", 1)), "\xC4\x80");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(byte_alphabet::decoded(encoded(one)), one);
  }
  EXPECT_EQ(byte_alphabet::decoded("\xE4\xB8\xAD" "a\xFF"), "\xE4\xB8\xAD" "a\xFF") << "not of the alphabet: kept";
}

TEST(ByteBpe, TheLowestRankMergesFirstAndTiesGoLeft) {
  Vocab vocab = bpe_base();
  vocab.add_merge("b", "c");
  vocab.add_merge("a", "b");
  GgufWriter writer = vocab.bpe();
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("abc", {}), (Ids{'a', 256}));
  EXPECT_EQ(tokenizer->encode("abab", {}), (Ids{257, 257}));
  EXPECT_EQ(tokenizer->kind(), "gpt2");
  EXPECT_EQ(tokenizer->pre_tokenizer(), "gpt-2");
}

TEST(ByteBpe, PiecesDoNotMergeWithEachOther) {
  Vocab vocab = bpe_base();
  vocab.add_merge("a", kSpace);
  vocab.add_merge(kSpace, "b");
  GgufWriter writer = vocab.bpe();
  EXPECT_EQ(good(writer)->encode("a b", {}), (Ids{'a', 257}));
}

TEST(ByteBpe, WholePiecesAreTakenFirstWhereTheModelDoesSo) {
  Vocab vocab = bpe_base();
  vocab.add_merge("a", "b");
  const TokenId whole = vocab.add("abc");  // no merge leads here
  GgufWriter llama3 = vocab.bpe("llama-bpe");
  EXPECT_EQ(good(llama3)->encode("abc", {}), Ids{whole});
  GgufWriter qwen = vocab.bpe("qwen2");
  EXPECT_EQ(good(qwen)->encode("abc", {}), (Ids{256, 'c'}));
}

TEST(ByteBpe, TextThatSpellsAControlTokenStaysText) {
  Vocab vocab = bpe_base();
  vocab.add_merge("<", "|");
  vocab.add_merge("|", ">");
  vocab.add_merge("<|", "|>");
  vocab.types.back() = static_cast<std::int32_t>(TokenType::control);
  const TokenId end = vocab.add("<|im_end|>");  // typed normal, but looks special
  for (const char* pre : {"gpt-2", "llama-bpe"}) {
    GgufWriter writer = vocab.bpe(pre);
    const auto tokenizer = good(writer);
    EXPECT_EQ(tokenizer->encode("<||>", {}), (Ids{256, 257}));
    EXPECT_EQ(tokenizer->encode("<||>", {.parse_special = true}), Ids{258});
    EXPECT_EQ(tokenizer->token_type(end), TokenType::control);
    EXPECT_EQ(tokenizer->encode("<|im_end|>", {.parse_special = true}), Ids{end});
    EXPECT_NE(tokenizer->encode("<|im_end|>", {}), Ids{end});
  }
}

TEST(ByteBpe, BytesWithoutTokenAreLeftOut) {
  Vocab vocab;
  vocab.add("A");
  vocab.add("B");
  GgufWriter writer = vocab.bpe();
  EXPECT_EQ(good(writer)->encode("A B!A", {}), (Ids{0, 1, 0}));
}

TEST(ByteBpe, RulesThatLeadNowhereAreIgnoredAndTheFirstOfTwoCounts) {
  Vocab vocab = bpe_base();
  vocab.merges = {"x yz", "x y", "a b", "b c", "a b"};  // yz and xy are no tokens
  vocab.add("ab");
  vocab.add("bc");
  GgufWriter writer = vocab.bpe();
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("xyz", {}), (Ids{'x', 'y', 'z'}));
  EXPECT_EQ(tokenizer->encode("abc", {}), (Ids{256, 'c'})) << "a repeated rule keeps its first rank";
}

TEST(ByteBpe, MergesAsTheDefinitionSaysOnRandomRules) {
  Random random(21);
  for (int round = 0; round < 120; ++round) {
    Vocab vocab = bpe_base();
    std::vector<std::pair<std::string, std::string>> rules;
    std::vector<std::string> parts = {"a", "b", "c"};
    for (int i = 0; i < 25; ++i) {
      const std::string left = parts[below(random, parts.size())];
      const std::string right = parts[below(random, parts.size())];
      if (left.size() + right.size() > 8 || std::ranges::find(rules, std::pair(left, right)) != rules.end()) continue;
      rules.emplace_back(left, right);
      vocab.merges.push_back(left + " " + right);
      if (std::ranges::find(vocab.tokens, left + right) == vocab.tokens.end()) vocab.add(left + right);
      parts.push_back(left + right);
    }
    GgufWriter writer = vocab.bpe();
    const auto tokenizer = good(writer);
    for (int i = 0; i < 25; ++i) {
      std::string text(1 + below(random, 20), 'a');
      for (char& c : text) c = "abc"[below(random, 3)];
      std::vector<std::string> symbols;
      for (const char c : text) symbols.emplace_back(1, c);
      for (bool merged = true; merged;) {
        merged = false;
        for (const auto& [left, right] : rules) {
          for (std::size_t at = 0; at + 1 < symbols.size() && !merged; ++at) {
            if (symbols[at] != left || symbols[at + 1] != right) continue;
            symbols[at] += right;
            symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
            merged = true;
          }
          if (merged) break;
        }
      }
      Ids expected;
      for (const std::string& symbol : symbols) {
        expected.push_back(static_cast<TokenId>(std::ranges::find(vocab.tokens, symbol) - vocab.tokens.begin()));
      }
      ASSERT_EQ(tokenizer->encode(text, {}), expected) << text << " round " << round;
    }
  }
}

TEST(ByteBpe, EverythingThatIsEncodedComesBack) {
  Vocab vocab = bpe_base();
  vocab.add_merge(kSpace, kSpace);
  vocab.add_merge("e", "t");
  vocab.add_merge("\xC3\x83", "\xC2\xA9");  // the two bytes of e acute
  vocab.add_merge("\xC3\xB0", "\xC5\x81");  // a part of an emoji
  vocab.add("   ", TokenType::user_defined);
  vocab.add("<|end|>", TokenType::control);
  Random random(22);
  for (const char* pre : {"gpt-2", "llama-bpe", "stablelm2", "tekken", "gpt-4o", "smollm", "seed-coder", "deepseek-llm", "deepseek-coder",
                          "deepseek-v3", "default", "falcon", "viking"}) {
    GgufWriter writer = vocab.bpe(pre);
    const auto tokenizer = good(writer);
    for (int round = 0; round < 300; ++round) {
      const std::string text = random_utf8(random, 30);
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, {}), false), text);
      const std::string bytes = random_bytes(random, 30);
      ASSERT_EQ(all_bytes(*tokenizer, tokenizer->encode(bytes, {})), bytes);
    }
  }
}

TEST(ByteBpe, Qwen2ComposesTextAndKeepsSpecialTokensAndStrayBytes) {
  Vocab vocab = bpe_base();
  const std::string decomposed = "e\xCC\x81";
  const TokenId user = vocab.add(decomposed + decomposed, TokenType::user_defined);
  GgufWriter writer = vocab.bpe("qwen2");
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode(decomposed, {}), (Ids{0xC3, 0xA9}));
  EXPECT_EQ(tokenizer->encode(decomposed + decomposed, {}), Ids{user}) << "found before the text is composed";
  GgufWriter relative = vocab.bpe("deepseek-r1-qwen");
  EXPECT_EQ(good(relative)->encode(decomposed, {}), (Ids{'e', 0xCC, 0x81}));
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_utf8(random, 30);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, {}), false), unicode::to_nfc(text));
    const std::string bytes = random_bytes(random, 30);
    ASSERT_EQ(all_bytes(*tokenizer, tokenizer->encode(bytes, {})), unicode::to_nfc(bytes));
  }
}

}  // namespace
}  // namespace layerstream::test

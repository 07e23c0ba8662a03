// SPDX-License-Identifier: MIT
// The llama kind on generated vocabularies: merging against the definition, byte fallback, the space before a
// text, and what never becomes of user text.

#include <algorithm>

#include "tokenizer/vocabulary.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

const std::string kMark = "\xE2\x96\x81";

// A vocabulary with a few letters, so that random texts merge a lot.
Vocab letters_vocab() {
  Vocab vocab = spm_base();
  for (const std::string& text : {kMark, std::string("a"), std::string("b"), std::string("c")}) vocab.add(text, TokenType::normal, -100);
  return vocab;
}

TEST(Spm, TheBestScoreMergesFirstAndTiesGoLeft) {
  Vocab vocab = letters_vocab();
  const TokenId ab = vocab.add("ab", TokenType::normal, -2);
  const TokenId bc = vocab.add("bc", TokenType::normal, -1);
  const TokenId a = 260, c = 262;
  GgufWriter writer = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("abc", {}), (Ids{a, bc}));
  EXPECT_EQ(tokenizer->encode("ab", {}), (Ids{ab}));
  EXPECT_EQ(tokenizer->encode("abcabc", {}), (Ids{a, bc, a, bc}));

  vocab.scores[static_cast<std::size_t>(ab)] = -1;  // a tie
  GgufWriter tied = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(good(tied)->encode("abc", {}), (Ids{ab, c}));
}

TEST(Spm, ASpaceIsPutBeforeTheTextAndBehindSpecialTokens) {
  Vocab vocab = letters_vocab();
  const TokenId mark = 259, a = 260, b = 261;
  const TokenId mark_a = vocab.add(kMark + "a", TokenType::normal, -1);
  const TokenId user = vocab.add("<u>", TokenType::user_defined);
  GgufWriter writer = vocab.spm();
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("", {}), Ids{});
  EXPECT_EQ(tokenizer->encode("", {.add_special = true}), Ids{1});
  EXPECT_EQ(tokenizer->encode("a", {}), Ids{mark_a});
  EXPECT_EQ(tokenizer->encode("a", {.add_special = true}), (Ids{1, mark_a}));
  EXPECT_EQ(tokenizer->encode(" a", {}), (Ids{mark, mark_a}));
  EXPECT_EQ(tokenizer->encode("b<u>a", {}), (Ids{mark, b, user, mark_a}));
  EXPECT_EQ(tokenizer->encode("<s>a</s>", {.parse_special = true}), (Ids{1, mark_a, 2}));

  GgufWriter without = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(good(without)->encode("a<u>a", {}), (Ids{a, user, a}));
}

TEST(Spm, TextThatSpellsASpecialOrByteTokenStaysText) {
  Vocab vocab = letters_vocab();
  // All steps on the way exist, and the specials have the best score of all (0, as in older files).
  for (const char* text : {"<", ">", "s", "/", "0", "x", "4", "1", "u", "n", "k"}) vocab.add(text, TokenType::normal, -50);
  for (const char* text : {"<s", "</", "</s", "<0", "<0x", "<0x4", "<0x41", "<u", "<un", "<unk"}) vocab.add(text, TokenType::normal, -1);
  GgufWriter writer = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = good(writer);
  for (const char* text : {"<s>", "</s>", "<0x41>", "<unk>"}) {
    const Ids ids = tokenizer->encode(text, {});
    EXPECT_EQ(ids.size(), 2u) << text;
    EXPECT_EQ(tokenizer->decode(ids, false), text);
  }
}

TEST(Spm, BytesWithoutTokenBecomeByteTokensThenUnknown) {
  Vocab vocab = letters_vocab();
  GgufWriter writer = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(good(writer)->encode("a\xC3\xA9\xFF", {}), (Ids{260, 3 + 0xC3, 3 + 0xA9, 3 + 0xFF}));

  Vocab few;
  few.add("<unk>", TokenType::unknown);
  few.add("<s>", TokenType::control);
  few.add("</s>", TokenType::control);
  const TokenId a = few.add("a");
  const TokenId lower_hex = few.add("<0xc3>", TokenType::byte);
  few.add("<0xZZ>", TokenType::byte);
  few.add("<0x4>", TokenType::byte);
  GgufWriter small = few.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = good(small);
  EXPECT_EQ(tokenizer->encode("a\xC3\xA9" "b", {}), (Ids{a, lower_hex, 0, 0}));
  EXPECT_EQ(tokenizer->token_bytes(lower_hex, false), "\xC3");
  EXPECT_EQ(tokenizer->token_type(5), TokenType::unused) << "a byte token that names no byte";
  EXPECT_EQ(tokenizer->token_bytes(5, true), "");
}

TEST(Spm, WithoutATypeListByteTokensAreKnownByTheirText) {
  const Vocab vocab = letters_vocab();
  GgufWriter writer;
  writer.add("tokenizer.ggml.model", "llama").add_string_array("tokenizer.ggml.tokens", vocab.tokens);
  writer.add_f32_array("tokenizer.ggml.scores", vocab.scores).add_bool("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("\n", {}), Ids{3 + 10});
  EXPECT_EQ(tokenizer->token_bytes(3 + 10, false), "\n");
}

// Merges one pair at a time, the best of all pairs each time; as slow as the rule reads.
Ids merge_by_definition(const Vocab& vocab, std::string text) {
  std::string marked;
  for (const char c : text) marked += c == ' ' ? kMark : std::string(1, c);
  std::vector<std::string> symbols;
  for (std::size_t at = 0; at < marked.size();) {
    const std::size_t bytes = static_cast<std::uint8_t>(marked[at]) >= 0xE0 ? 3 : 1;
    symbols.push_back(marked.substr(at, bytes));
    at += bytes;
  }
  const auto id_of = [&](const std::string& token) -> TokenId {
    const auto at = std::ranges::find(vocab.tokens, token);
    return at == vocab.tokens.end() ? kNoToken : static_cast<TokenId>(at - vocab.tokens.begin());
  };
  while (true) {
    std::size_t best = symbols.size();
    float best_score = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const TokenId id = id_of(symbols[i] + symbols[i + 1]);
      if (id == kNoToken) continue;
      const float score = vocab.scores[static_cast<std::size_t>(id)];
      if (best == symbols.size() || score > best_score) {
        best = i;
        best_score = score;
      }
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  Ids ids;
  for (const std::string& symbol : symbols) ids.push_back(id_of(symbol));
  return ids;
}

TEST(Spm, MergesAsTheDefinitionSaysOnRandomVocabularies) {
  Random random(7);
  for (int round = 0; round < 120; ++round) {
    Vocab vocab = letters_vocab();
    const std::string alphabet[] = {"a", "b", "c", kMark};
    // Every second vocabulary has tokens that reach over the start of a word.
    const bool over_words = round % 2 == 0;
    for (int i = 0; i < 30; ++i) {
      std::string text;
      for (std::size_t n = 2 + below(random, 3); n > 0; --n) text += alphabet[below(random, over_words || text.empty() ? 4 : 3)];
      if (std::ranges::find(vocab.tokens, text) != vocab.tokens.end()) continue;
      vocab.add(text, TokenType::normal, -static_cast<float>(below(random, 6)));
    }
    GgufWriter writer = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
    const auto tokenizer = good(writer);
    for (int i = 0; i < 25; ++i) {
      std::string text(below(random, 24), ' ');
      for (char& c : text) c = "abc "[below(random, 4)];
      ASSERT_EQ(tokenizer->encode(text, {}), merge_by_definition(vocab, text)) << "'" << text << "' round " << round;
    }
  }
}

TEST(Spm, ExtraSpacesAreRemovedOnlyWhereTheFileSaysSo) {
  const Vocab vocab = letters_vocab();
  GgufWriter kept = vocab.spm();
  GgufWriter removed = vocab.spm().add_bool("tokenizer.ggml.remove_extra_whitespaces", true);
  const auto removing = good(removed);
  EXPECT_EQ(good(kept)->decode(good(kept)->encode("  a  b ", {}), false), "  a  b ");
  EXPECT_EQ(removing->encode("  a  b ", {}), removing->encode("a b", {}));
  EXPECT_EQ(removing->decode(removing->encode("  a  b ", {}), false), "a b");
  EXPECT_EQ(removing->encode("   ", {}), Ids{});
}

TEST(Spm, ScoresMayBeIntegersAndMergesAreIgnored) {
  Vocab vocab = letters_vocab();
  vocab.add("ab", TokenType::normal, -1);
  GgufWriter writer;
  writer.add("tokenizer.ggml.model", "llama").add_string_array("tokenizer.ggml.tokens", vocab.tokens);
  writer.add_i32_array("tokenizer.ggml.scores", std::vector<std::int32_t>(vocab.scores.begin(), vocab.scores.end()));
  writer.add_i32_array("tokenizer.ggml.token_type", vocab.types).add_string_array("tokenizer.ggml.merges", {"nonsense"});
  writer.add("tokenizer.ggml.pre", "whatever").add_bool("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(good(writer)->encode("ab", {}), Ids{263});
}

TEST(Spm, EverythingThatIsEncodedComesBack) {
  Vocab vocab = letters_vocab();
  for (const std::string& text : {kMark + kMark, kMark + "a", std::string("ab"), kMark + "ab", std::string("\xC3\xA9")}) {
    vocab.add(text, TokenType::normal, -1);
  }
  GgufWriter plain = vocab.spm();
  GgufWriter no_prefix = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  Random random(9);
  for (GgufWriter* writer : {&plain, &no_prefix}) {
    const auto tokenizer = good(*writer);
    for (int round = 0; round < 2000; ++round) {
      const std::string text = random_utf8(random, 30);
      if (text.find(kMark) != std::string::npos) continue;  // is a space to this kind
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, {}), false), text);
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, {.add_special = true}), false), text);
      // Any bytes survive as bytes (decode() must give valid text instead).
      const std::string bytes = random_bytes(random, 30);
      if (bytes.find(kMark) != std::string::npos) continue;
      const std::string back = all_bytes(*tokenizer, tokenizer->encode(bytes, {}));
      ASSERT_EQ(back, writer == &plain && !bytes.empty() ? " " + bytes : bytes);
    }
  }
}

}  // namespace
}  // namespace layerstream::test

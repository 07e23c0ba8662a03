// SPDX-License-Identifier: MIT
// The worst texts cost near-linear work. Counted, not timed: what is queued for merging may grow with the text,
// not with its square.

#include "tokenizer/byte_bpe.h"
#include "tokenizer/special_split.h"
#include "tokenizer/spm.h"
#include "tokenizer/text_index.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

struct Worst {
  const char* name;
  std::string unit;
};

const Worst kWorst[] = {
    {"one letter", "a"},       {"two letters", "ab"},     {"spaces", " "},   {"line ends", "\n"},  {"emoji", "\xF0\x9F\x98\x80"},
    {"bad bytes", "\xFF"},     {"cut leads", "\xF0\x9F"}, {"digits", "1"},   {"marks", "\xCC\x81"}, {"quotes", "'"},
    {"capitals", "A"},         {"mixed case", "aA"},      {"space mark", "\xE2\x96\x81"},
};

std::string repeated(const std::string& unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

// Tokens for runs of every power of two, so that everything merges.
std::vector<std::string> run_texts(const std::string& unit) {
  std::vector<std::string> out;
  for (std::string run = unit; run.size() <= 64; run += run) out.push_back(run);
  return out;
}

void expect_linear(const TextModel& model, const Worst& worst, std::size_t large_bytes) {
  const auto work_for = [&](std::size_t bytes, Ids& ids) {
    EncodeState state(bytes);
    model.encode(repeated(worst.unit, bytes), true, ids, state);
    return state.work;
  };
  Ids few, ids;
  const MergeWork small = work_for(large_bytes / 5, few);
  const MergeWork large = work_for(large_bytes, ids);
  std::string back;
  for (const TokenId id : ids) back += model.bytes_of(id);
  EXPECT_GE(back.size(), large_bytes / 3) << worst.name;
  // Every merge queues at most two pairs, and there are fewer merges than symbols.
  EXPECT_LE(large.queued, 3 * large.symbols) << worst.name;
  EXPECT_LE(large.queued, 5 * small.queued + 1000) << worst.name;
  EXPECT_LE(large.symbols, 3 * large_bytes + 3) << worst.name;
}

TEST(Work, SpmMergingIsNearLinearOnTheWorstTexts) {
  Vocab vocab = spm_base();
  float score = 0;
  for (const Worst& worst : kWorst) {
    for (const std::string& run : run_texts(worst.unit == " " ? "\xE2\x96\x81" : worst.unit)) vocab.add(run, TokenType::normal, score--);
  }
  GgufWriter writer = vocab.spm();
  const auto header = written_header(writer);
  const auto vocabulary = Vocabulary::create(header->metadata(), true);
  const auto model = SpmModel::create(header->metadata(), *vocabulary, 0);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  for (const Worst& worst : kWorst) expect_linear(**model, worst, 100000);
}

TEST(Work, BpeMergingIsNearLinearOnTheWorstTexts) {
  for (const char* pre : {"gpt-2", "llama-bpe", "qwen2", "tekken", "gpt-4o", "smollm", "deepseek-llm", "deepseek-coder", "deepseek-v3",
                          "default", "viking"}) {
    Vocab vocab = bpe_base();
    for (const Worst& worst : kWorst) {
      // Byte by byte up to the unit, then doubling.
      std::string run;
      byte_alphabet::append_encoded(run, worst.unit.substr(0, 1));
      for (const char c : worst.unit.substr(1)) {
        std::string next;
        byte_alphabet::append_encoded(next, {&c, 1});
        vocab.add_merge(run, next);
        run += next;
      }
      for (int i = 0; i < 6; ++i, run += run) vocab.add_merge(run, run);
    }
    GgufWriter writer = vocab.bpe(pre);
    const auto header = written_header(writer);
    const auto vocabulary = Vocabulary::create(header->metadata(), false);
    const auto model = ByteBpeModel::create(header->metadata(), *vocabulary);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    for (const Worst& worst : kWorst) expect_linear(**model, worst, std::string_view(pre) == "gpt-2" ? 100000 : 15000);
  }
}

// Without care, n equal bytes and m tokens of 1..m of them cost n * m candidates.
TEST(Work, SplittingAtRunsOfUserDefinedTokensEndsSoon) {
  Vocab vocab = spm_base();
  for (std::size_t n = 1; n <= 300; ++n) vocab.add(std::string(n, '\n'), TokenType::user_defined);
  GgufWriter writer = vocab.spm();
  const auto tokenizer = good(writer);
  const Ids ids = tokenizer->encode(std::string(100000 + 7, '\n'), {});
  EXPECT_EQ(ids.size(), 334u) << "333 of the longest (300) and one of the rest (107)";
  EXPECT_EQ(tokenizer->decode(ids, false), std::string(100007, '\n'));
}

TEST(TextIndex, FindsTheLowestIdOfEveryTextAndNothingElse) {
  Random random(41);
  std::vector<std::string> owned;
  for (int i = 0; i < 3000; ++i) {
    std::string text(below(random, 4), 'a');
    for (char& c : text) c = "abcdefgh"[below(random, 8)];
    owned.push_back(text);
  }
  const std::vector<std::string_view> texts(owned.begin(), owned.end());
  const TextIndex index = TextIndex::create(texts);
  for (const std::string& text : owned) {
    const auto lowest = std::ranges::find(owned, text) - owned.begin();
    const auto found = index.find(texts, text);
    if (text.empty()) {
      EXPECT_EQ(found, std::nullopt);
    } else {
      EXPECT_EQ(found, static_cast<std::int32_t>(lowest)) << text;
    }
  }
  EXPECT_EQ(index.find(texts, "abcdefgh"), std::nullopt);
  EXPECT_EQ(index.find(texts, "z"), std::nullopt);
  EXPECT_EQ(TextIndex::create({}).find({}, "a"), std::nullopt);
}

}  // namespace
}  // namespace layerstream::test

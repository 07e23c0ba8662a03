// SPDX-License-Identifier: MIT
// Sampling through a session: what it gives the sampler as history, masks, log-probabilities, DRY's breakers.
#include <gtest/gtest.h>

#include <fstream>

#include "session/dry_breakers.h"
#include "support/run_tokens.h"
#include "support/tiny_model.h"

namespace layerstream::test {
namespace {

constexpr std::size_t kVocabSize = 280;

class SamplingTest : public testing::Test {
 protected:
  void SetUp() override { open({}); }
  void open(const TinyModel& model, const SessionOptions& options = {.n_ctx = 64}) {
    host_ = std::make_unique<MemoryHost>(tiny_model(model));
    auto session = host_->open(options);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }
  void run(std::span<const TokenId> ids, std::size_t chunk = 5) { ASSERT_TRUE(run_tokens(*host_, *session_, ids, std::min<std::size_t>(chunk, session_->max_entries()))); }
  void set(const SamplerConfig& config) {
    const auto done = session_->set_sampler(config);
    ASSERT_TRUE(done) << done.error().message;
  }
  TokenId sample() {
    const auto id = session_->sample();
    if (!id) ADD_FAILURE() << id.error().message;
    return id.value_or(-1);
  }
  std::unique_ptr<MemoryHost> host_;
  std::unique_ptr<Session> session_;
};

// Nothing is drawn twice, nor anything of the prompt.
const SamplerConfig kNoRepeats{.presence_penalty = 1e6f, .repeat_last_n = -1};

TEST_F(SamplingTest, EveryTokenOfPromptAndAnswerIsTheHistory) {
  std::vector<TokenId> ids = some_tokens(11, kVocabSize);
  run(ids);
  const SamplerConfig config{.temperature = 1.5f, .dry_multiplier = 2.0f, .dry_allowed_length = 0, .repeat_penalty = 3.0f, .frequency_penalty = 0.7f, .repeat_last_n = 9, .seed = 5};
  set(config);
  Sampler twin = *Sampler::create(config, kVocabSize);
  for (int i = 0; i < 30; ++i) {
    const auto last_logits = session_->logits(0);
    const std::vector<float> logits(last_logits.begin(), last_logits.end());
    const TokenId id = sample();
    ASSERT_EQ(twin.sample(logits, ids), id) << "token " << i;
    ids.push_back(id);
    run(std::span(ids).last(1));
  }
}

TEST_F(SamplingTest, PenaltiesSeeTheTokensOfThePrompt) {
  const std::vector<TokenId> prompt = some_tokens(4, kVocabSize);
  run(prompt);
  const TokenId favourite = sample();
  ASSERT_TRUE(session_->truncate(0));
  // The same last token, the favourite in front: its logits may differ, but it must not come out.
  std::vector<TokenId> ids = {favourite};
  ids.insert(ids.end(), prompt.begin(), prompt.end());
  run(ids);
  set(kNoRepeats);
  for (int i = 0; i < 20; ++i) {
    const TokenId id = sample();
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0);
    ids.push_back(id);
    run(std::span(ids).last(1));
  }
}

TEST_F(SamplingTest, TheTokenDrawnCountsOnceItWasRun) {
  run(some_tokens(4, kVocabSize));
  set(kNoRepeats);
  const TokenId first = sample();
  EXPECT_EQ(sample(), first) << "not in the cache yet";
  run({&first, 1});
  EXPECT_NE(sample(), first);
}

TEST_F(SamplingTest, TruncateCutsTheHistory) {
  const std::vector<TokenId> prompt = some_tokens(6, kVocabSize);
  run(prompt);
  set(kNoRepeats);
  std::vector<TokenId> answer;
  for (int i = 0; i < 8; ++i) {
    answer.push_back(sample());
    run(std::span(answer).last(1));
  }
  // Back to before the last token of the prompt: the same answer comes again, so nothing of it is remembered.
  ASSERT_EQ(session_->truncate(5), 5u);
  run(std::span(prompt).last(1));
  for (const TokenId expected : answer) {
    const TokenId id = sample();
    ASSERT_EQ(id, expected);
    run({&id, 1});
  }
  ASSERT_EQ(session_->truncate(0), 0u);
  run(prompt);
  EXPECT_EQ(sample(), answer[0]);
}

TEST_F(SamplingTest, WhatATruncatedWindowForgetsIsForgottenAsHistory) {
  open({.family = "gemma3", .n_layers = 6, .window = 4}, {.n_ctx = 64, .max_entries = 2});
  const std::vector<TokenId> prompt = some_tokens(20, kVocabSize);
  run(prompt, 2);
  set(kNoRepeats);
  const TokenId first = sample();
  run({&first, 1});
  ASSERT_EQ(session_->truncate(10), 0u) << "the window has passed";
  run(prompt, 2);
  EXPECT_EQ(sample(), first);
}

TEST_F(SamplingTest, ACancelledPassIsNoHistory) {
  const std::vector<TokenId> prompt = some_tokens(4, kVocabSize);
  run(prompt);
  set(kNoRepeats);
  const TokenId first = sample();
  ASSERT_EQ(session_->truncate(3), 3u);
  ASSERT_TRUE(session_->begin_pass(std::vector{Entry{first, 3, Wants::logits}}));
  session_->cancel_pass();
  host_->settle(*session_);
  EXPECT_FALSE(session_->sample());
  run(std::span(prompt).last(1));
  EXPECT_EQ(sample(), first);
}

TEST_F(SamplingTest, SettingsAreCheckedAgainstTheVocabulary) {
  EXPECT_TRUE(session_->set_sampler({.banned = {279}}));
  const auto refused = session_->set_sampler({.banned = {280}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_argument);
  EXPECT_NE(refused.error().message.find("280"), std::string::npos);
}

TEST_F(SamplingTest, MirostatAndTheSeedBeginWithSetSampler) {
  const std::vector<TokenId> prompt = some_tokens(4, kVocabSize);
  run(prompt);
  std::vector<TokenId> first, second;
  for (auto* ids : {&first, &second}) {
    set({.temperature = 2.0f, .mirostat = 2, .mirostat_tau = 3.0f, .mirostat_eta = 0.5f, .seed = 3});
    for (int i = 0; i < 40; ++i) ids->push_back(sample());
  }
  EXPECT_EQ(first, second);
}

TEST_F(SamplingTest, AMaskIsAskedAtEveryDrawUntilItIsTakenAway) {
  struct EvenOnly : LogitMask {
    int asked = 0;
    std::size_t n_tokens = 0;
    Result<void> apply(std::span<float> logits) override {
      ++asked;
      n_tokens = logits.size();
      for (std::size_t id = 1; id < logits.size(); id += 2) logits[id] = -std::numeric_limits<float>::infinity();
      return {};
    }
  } mask;
  run(some_tokens(4, kVocabSize));
  set({.temperature = 5.0f, .seed = 1});
  session_->set_mask(&mask);
  for (int i = 0; i < 20; ++i) {
    const TokenId id = sample();
    EXPECT_EQ(id % 2, 0);
    run({&id, 1});
  }
  EXPECT_EQ(mask.asked, 20);
  EXPECT_EQ(mask.n_tokens, kVocabSize);
  session_->set_mask(nullptr);
  bool odd = false;
  for (int i = 0; i < 50; ++i) odd |= sample() % 2 == 1;
  EXPECT_TRUE(odd);
  EXPECT_EQ(mask.asked, 20);
}

TEST_F(SamplingTest, LogprobsAreThoseOfTheTokenDrawnLast) {
  EXPECT_FALSE(session_->logprobs(3)) << "nothing was run";
  run(some_tokens(4, kVocabSize));
  EXPECT_FALSE(session_->logprobs(3)) << "nothing was drawn";
  set({.temperature = 3.0f, .seed = 8});
  for (int i = 0; i < 5; ++i) {
    const TokenId id = sample();
    const auto logprobs = session_->logprobs(3);
    ASSERT_TRUE(logprobs);
    EXPECT_EQ(logprobs->drawn.id, id);
    ASSERT_EQ(logprobs->top.size(), 3u);
    EXPECT_GE(logprobs->top[0].logprob, logprobs->top[1].logprob);
    EXPECT_GE(logprobs->top[0].logprob, logprobs->drawn.logprob);
    double total = 0.0;
    const auto all = session_->logprobs(kVocabSize + 5);
    ASSERT_TRUE(all);
    for (const auto& token : all->top) total += std::exp(token.logprob);
    EXPECT_NEAR(total, 1.0, 1e-9);
  }
  const TokenId id = sample();
  ASSERT_TRUE(session_->begin_pass(std::vector{Entry{id, session_->n_past(), Wants::none}}));
  EXPECT_FALSE(session_->logprobs(3)) << "during a pass";
  ASSERT_TRUE(host_->run(*session_));
  EXPECT_FALSE(session_->logprobs(3)) << "after a pass without logits";
}

// --- breakers

std::string bytes_of_ids(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string bytes;
  for (const TokenId id : ids) bytes += tokenizer.token_bytes(id, true);
  return bytes;
}

bool occurs(std::span<const TokenId> sequence, std::span<const TokenId> ids) { return !std::ranges::search(ids, sequence).empty(); }

// Every sequence spells the text and needs its last token for it; every two tokens that spell a text are found.
void check_breakers(const Tokenizer& tokenizer, std::span<const std::string> samples) {
  std::size_t checked = 0;
  for (const std::string& sample : samples) {
    const std::vector<TokenId> ids = tokenizer.encode(sample, {});
    for (std::size_t i = 0; i + 1 < ids.size() && i < 6; ++i) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{2}}) {
        const auto span = std::span<const TokenId>(ids).subspan(i, n);
        const std::string text = bytes_of_ids(tokenizer, span);
        if (text.empty() || text.size() > 64) continue;
        const auto breakers = find_breakers(tokenizer, std::vector{text});
        ASSERT_TRUE(breakers) << breakers.error().message;
        bool found = false;
        for (const auto& breaker : *breakers) {
          ASSERT_NE(bytes_of_ids(tokenizer, breaker).find(text), std::string::npos);
          const auto shorter = std::span<const TokenId>(breaker).first(breaker.size() - 1);
          ASSERT_EQ(bytes_of_ids(tokenizer, shorter).find(text), std::string::npos);
          found |= occurs(breaker, ids);
        }
        EXPECT_TRUE(found) << "\"" << text << "\" in \"" << sample << "\"";
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 20u);
}

TEST_F(SamplingTest, BreakersOfASentencePieceVocabularyAreFound) {
  const std::string samples[] = {"Hello: \"you\"\n\nand * me", "a:b\n", "na\xc3\xafve \xf0\x9f\x98\x80!\n"};
  check_breakers(session_->tokenizer(), samples);
}

TEST_F(SamplingTest, BreakersThatMeanNothingAreRefused) {
  for (const std::string& text : {std::string(), std::string(65, 'a')}) {
    const auto refused = find_breakers(session_->tokenizer(), std::vector{std::string("\n"), text});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::bad_argument);
    EXPECT_NE(refused.error().message.find(std::to_string(text.size())), std::string::npos);
  }
  EXPECT_TRUE(find_breakers(session_->tokenizer(), {})->empty());
}

TEST(Breakers, OfAByteLevelVocabularyAreFound) {
  std::ifstream file(LAYERSTREAM_SOURCE_DIR "/demo/models/tinychat/tinychat-q8_0.gguf", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  MemoryHost host(bytes_of(text));
  const auto session = host.open({.n_ctx = 64});
  ASSERT_TRUE(session) << session.error().message;
  const Tokenizer& tokenizer = (*session)->tokenizer();
  const std::string samples[] = {"What is the capital of France?", "Hello: \"you\"\n\nand * me", "na\xc3\xafve \xf0\x9f\x98\x80!\n"};
  check_breakers(tokenizer, samples);
  // The usual ones: every token that contains one, and nothing else.
  const std::vector<std::string> usual(kUsualDryBreakers.begin(), kUsualDryBreakers.end());
  const auto breakers = find_breakers(tokenizer, usual);
  ASSERT_TRUE(breakers);
  for (std::size_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const bool expected = tokenizer.token_bytes(static_cast<TokenId>(id), true).find_first_of("\n:\"*") != std::string::npos;
    EXPECT_EQ(std::ranges::count(*breakers, std::vector{static_cast<TokenId>(id)}) > 0, expected) << id;
  }
}

}  // namespace
}  // namespace layerstream::test

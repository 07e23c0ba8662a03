// SPDX-License-Identifier: MIT
// The hidden state of an entry is exactly what the output projection is applied to, and does not depend on how its pass is cut.
#include <gtest/gtest.h>

#include "kernels/matmul.h"
#include "support/run_tokens.h"
#include "support/tiny_model.h"

namespace layerstream::test {
namespace {

constexpr std::size_t kTokens = 19;

// Hidden states of all ids. [kTokens, model_dim]
Result<std::vector<float>> hidden_states(const Bytes& file, const SessionOptions& options, std::span<const TokenId> ids, std::size_t chunk) {
  MemoryHost host(file);
  const auto session = LS_TRY(host.open(options));
  std::vector<float> all;
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
    std::vector<Entry> entries;
    for (std::size_t i = begin; i < std::min(begin + chunk, ids.size()); ++i) entries.push_back({ids[i], static_cast<std::uint32_t>(i), Wants::hidden});
    LS_CHECK(session->begin_pass(entries));
    LS_CHECK(host.run(*session));
    for (std::size_t e = 0; e < entries.size(); ++e) {
      EXPECT_TRUE(session->logits(e).empty());
      const std::span<const float> row = session->hidden(e);
      all.insert(all.end(), row.begin(), row.end());
    }
  }
  return all;
}

std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> out;
  for (const float value : values) out.push_back(std::bit_cast<std::uint32_t>(value));
  return out;
}

TEST(Hidden, TimesTheOutputMatrixIsTheLogitsBitForBit) {
  for (const std::string family : {"llama", "qwen2", "gemma3"}) {
    const TinyModel model{.family = family};
    const Bytes file = tiny_model(model);
    const auto ids = some_tokens(kTokens, model.vocab_size);
    SessionOptions options;
    options.n_ctx = 64;
    const auto hidden = hidden_states(file, options, ids, kTokens);
    ASSERT_TRUE(hidden) << hidden.error().message;
    ASSERT_EQ(hidden->size(), kTokens * model.model_dim);

    const auto parsed = MemoryHost(file).model_file();
    ASSERT_TRUE(parsed);
    const gguf::TensorInfo* output = parsed->find_tensor("output.weight");
    if (output == nullptr) output = parsed->find_tensor("token_embd.weight");
    ASSERT_NE(output, nullptr);
    const std::size_t row_bytes = model.model_dim * sizeof(float);
    const MatView w{file.data() + output->offset, QuantType::f32, model.vocab_size, model.model_dim, row_bytes};
    std::vector<float> logits(kTokens * model.vocab_size);
    kernels::matmul(w, {.f32 = hidden->data(), .n_columns = kTokens, .length = model.model_dim}, 0, w.rows, logits.data(), w.rows);

    const auto reference = run_fresh(file, options, ids, kTokens);
    ASSERT_TRUE(reference) << reference.error().message;
    EXPECT_EQ(bits(logits), reference->logits) << family;
  }
}

TEST(Hidden, IsTheSameForAnyBatchSplitBudgetAndNumberOfThreads) {
  for (const QuantType type : {QuantType::f32, QuantType::q8_0, QuantType::q4_0}) {
    const Bytes file = tiny_model({.type = type});
    const auto ids = some_tokens(kTokens, 280);
    SessionOptions options;
    options.n_ctx = 64;
    const auto reference = hidden_states(file, options, ids, 1);
    ASSERT_TRUE(reference) << reference.error().message;
    ASSERT_EQ(reference->size(), kTokens * 64);
    for (const std::size_t chunk : {2u, 7u, 19u}) {
      options.n_threads = 1 + static_cast<std::uint32_t>(chunk % 3);
      options.budget_bytes = chunk == 7 ? stream::kBudgetMinimum : stream::kBudgetUnlimited;
      options.max_entries = static_cast<std::uint32_t>(chunk);
      options.chunk_entries = chunk == 19 ? 4 : 0;
      const auto outcome = hidden_states(file, options, ids, chunk);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(bits(*outcome), bits(*reference)) << "chunk " << chunk;
    }
  }
}

TEST(Hidden, IsGivenToEntriesThatAskedAndLogitsToTheOthers) {
  const Bytes file = tiny_model({});
  const auto ids = some_tokens(3, 280);
  SessionOptions options;
  options.n_ctx = 64;
  options.chunk_entries = 2;
  const auto states = hidden_states(file, options, ids, 1);
  const auto logits = run_fresh(file, options, ids, 1);
  ASSERT_TRUE(states && logits);
  MemoryHost host(file);
  const auto session = host.open(options);
  ASSERT_TRUE(session);
  const Entry entries[] = {{ids[0], 0, Wants::hidden}, {ids[1], 1, Wants::none}, {ids[2], 2, Wants::logits}};
  ASSERT_TRUE((*session)->begin_pass(entries));
  ASSERT_TRUE((*session)->hidden(0).empty());  // not before the pass is done
  ASSERT_TRUE(host.run(**session));
  EXPECT_EQ(bits((*session)->hidden(0)), bits(std::span(*states).first(64)));
  EXPECT_TRUE((*session)->hidden(1).empty());
  EXPECT_TRUE((*session)->hidden(2).empty());
  EXPECT_TRUE((*session)->logits(0).empty());
  EXPECT_EQ(bits((*session)->logits(2)), std::vector(logits->logits.end() - 280, logits->logits.end()));
}

}  // namespace
}  // namespace layerstream::test

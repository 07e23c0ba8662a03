// SPDX-License-Identifier: MIT
// Bit-exactness: single-pass prefill, steps, any batch split, streamed or resident weights, threads, pauses and hosts of
// every temper give the same logits and the same cache.
#include <gtest/gtest.h>

#include "support/run_tokens.h"
#include "support/tiny_model.h"

namespace layerstream::test {
namespace {

struct Case {
  std::string name;
  TinyModel model;
  KvCacheType kv = KvCacheType::f16;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string family : {"llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "phi2", "gpt2"}) {
    TinyModel model{.family = family};
    if (family == "phi2" || family == "gpt2") model.n_kv_heads = model.n_heads;
    if (family.starts_with("gemma")) model.window = 5;
    if (family == "gemma3") model.n_layers = 7;  // five local, one global, one local
    cases.push_back({family, model});
  }
  for (const QuantType type : {QuantType::f16, QuantType::bf16, QuantType::q8_0, QuantType::q4_0, QuantType::q5_0, QuantType::q4_1}) {
    cases.push_back({"llama_" + std::string(type_info(type).name), {.type = type}, KvCacheType::f32});
  }
  for (const QuantType type : {QuantType::q4_k, QuantType::q6_k}) {  // rows of whole blocks of 256
    cases.push_back({"llama_" + std::string(type_info(type).name),
                     {.type = type, .n_layers = 1, .model_dim = 256, .head_dim = 64, .ffn_dim = 256}, KvCacheType::f32});
  }
  cases.push_back({"q8_cache", {.family = "llama"}, KvCacheType::q8});
  cases.push_back({"q8_cache_windows", {.family = "gemma2", .window = 5}, KvCacheType::q8});
  cases.push_back({"q8_cache_head_dim_48", {.head_dim = 48}, KvCacheType::q8});
  cases.push_back({"odd_groups_7_to_1", {.n_heads = 7, .n_kv_heads = 1, .head_dim = 16}});
  cases.push_back({"one_kv_head", {.n_kv_heads = 1}});
  cases.push_back({"head_dim_larger_than_the_share", {.head_dim = 48}});
  cases.push_back({"head_dim_not_multiple_of_16", {.head_dim = 24}});
  cases.push_back({"head_dim_not_multiple_of_4", {.n_heads = 3, .n_kv_heads = 3, .head_dim = 14}});
  cases.push_back({"one_layer_tied", {.n_layers = 1, .tied = true}});
  cases.push_back({"tied_q8_0", {.type = QuantType::q8_0, .tied = true}});
  cases.push_back({"vocab_not_multiple_of_8", {.vocab_size = 277}});
  cases.push_back({"window_shorter_than_prompt", {.window = 3}});
  cases.push_back({"phi3_window", {.family = "phi3", .window = 6}});
  cases.push_back({"experts", {.n_experts = 4}});
  cases.push_back({"experts_q8_0", {.type = QuantType::q8_0, .n_experts = 5, .n_experts_used = 3}});
  return cases;
}

class SameBits : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    file_ = tiny_model(GetParam().model);
    ids_ = some_tokens(23, GetParam().model.vocab_size);
    options_.kv_type = GetParam().kv;
    options_.n_ctx = 64;
    const auto reference = run_fresh(file_, options_, ids_, 1);
    ASSERT_TRUE(reference) << reference.error().message;
    reference_ = *reference;
    ASSERT_EQ(reference_.logits.size(), ids_.size() * GetParam().model.vocab_size);
  }
  void expect_same(const Result<Outcome>& outcome, const std::string& what) {
    ASSERT_TRUE(outcome) << what << ": " << outcome.error().message;
    EXPECT_TRUE(outcome->logits == reference_.logits) << what << ": logits differ";
    EXPECT_TRUE(outcome->kv == reference_.kv) << what << ": cache differs";
  }
  Bytes file_;
  std::vector<TokenId> ids_;
  SessionOptions options_;
  Outcome reference_;
};

TEST_P(SameBits, PrefillInPassesOfAnySizeEqualsSteps) {
  for (const std::size_t chunk : {2u, 3u, 7u, 16u, 23u}) expect_same(run_fresh(file_, options_, ids_, chunk), "chunk " + std::to_string(chunk));
}

TEST_P(SameBits, PrefillAsLargeAsThePassNeedsNoWiderRing) {
  SessionOptions options = options_;
  options.max_entries = 4;
  expect_same(run_fresh(file_, options, ids_, 4), "max_entries 4");
}

TEST_P(SameBits, ChunksInsideABlockChangeNothing) {
  SessionOptions options = options_;
  options.max_entries = 23;
  for (const std::uint32_t chunk : {1u, 2u, 5u, 16u, 22u}) {
    options.chunk_entries = chunk;
    options.n_threads = 1 + chunk % 2;
    for (const std::uint64_t work : {std::uint64_t{5000}, std::uint64_t{UINT64_MAX}}) {
      MemoryHost host(file_);
      const auto session = host.open(options);
      ASSERT_TRUE(session) << session.error().message;
      EXPECT_EQ((*session)->max_entries(), 23u);
      EXPECT_EQ((*session)->plan().chunk_entries, chunk);
      expect_same(run_tokens(host, **session, ids_, 23, work), "chunks of " + std::to_string(chunk));
      EXPECT_EQ((*session)->sweeps(), 1u);
      // After a pass of several chunks a shorter one, and the other way round.
      ASSERT_TRUE((*session)->truncate(0));
      ASSERT_TRUE(run_tokens(host, **session, std::span(ids_).first(3), 3, work));
      const auto rest = run_tokens(host, **session, std::span(ids_).subspan(3), 20, work);
      ASSERT_TRUE(rest);
      EXPECT_TRUE(rest->kv == reference_.kv) << "after 3 entries, chunks of " << chunk;
    }
  }
}

TEST_P(SameBits, StreamedEqualsResident) {
  SessionOptions options = options_;
  options.budget_bytes = stream::kBudgetMinimum;
  for (const std::uint64_t unit_bytes : {1u << 9, 1u << 12, 1u << 23}) {
    options.unit_bytes = unit_bytes;
    options.max_entries = unit_bytes == 1u << 12 ? 1 : 8;
    options.n_threads = 2;
    options.reader_needs_core = unit_bytes == 1u << 12;
    MemoryHost host(file_);
    const auto session = host.open(options);
    ASSERT_TRUE(session) << session.error().message;
    const std::size_t chunk = (*session)->max_entries();
    expect_same(run_tokens(host, **session, ids_, chunk), "streamed, units of " + std::to_string(unit_bytes));
    const MemoryUse memory = (*session)->memory();
    EXPECT_LE(memory.peak_resident_weight_bytes, memory.slot_bytes);
    EXPECT_EQ(memory.pinned_bytes, 0u);
    EXPECT_EQ((*session)->plan().n_slots, 3u);
  }
}

TEST_P(SameBits, HostsThatDelayAndReorderChangeNothing) {
  SessionOptions options = options_;
  options.budget_bytes = stream::kBudgetMinimum;
  options.unit_bytes = 1 << 10;
  options.max_entries = 6;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    expect_same(run_fresh(file_, options, ids_, 1, {.max_in_flight = static_cast<std::size_t>(1 + seed), .reorder = true, .seed = seed}), "seed " + std::to_string(seed));
  }
}

TEST_P(SameBits, PausesChangeNothing) {
  for (const std::uint64_t work : {1u, 1000u, 50000u}) expect_same(run_fresh(file_, options_, ids_, 8, {}, work), "work limit " + std::to_string(work));
}

TEST_P(SameBits, ThreadsChangeNothing) {
  SessionOptions options = options_;
  options.n_threads = 3;
  expect_same(run_fresh(file_, options, ids_, 9), "three threads");
}

TEST_P(SameBits, GoingBackAndRunningAgainEqualsAColdRun) {
  SessionOptions options = options_;
  options.max_entries = 23;
  MemoryHost host(file_);
  const auto session = host.open(options);
  ASSERT_TRUE(session);
  ASSERT_TRUE(run_tokens(host, **session, ids_, 23));
  const std::uint32_t back_to = 15;
  EXPECT_EQ(*(*session)->truncate(back_to), back_to);
  const auto again = run_tokens(host, **session, std::span(ids_).subspan(back_to), 5);
  ASSERT_TRUE(again) << again.error().message;
  const std::size_t vocab = GetParam().model.vocab_size;
  EXPECT_TRUE(std::equal(again->logits.begin(), again->logits.end(), reference_.logits.begin() + static_cast<std::ptrdiff_t>(back_to * vocab)));
  EXPECT_TRUE(again->kv == reference_.kv);
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, SameBits, testing::ValuesIn(all_cases()), [](const auto& info) { return info.param.name; });

TEST(OneToken, FillsAContextOfOne) {
  const Bytes file = tiny_model({.n_ctx_train = 1});
  const std::vector<TokenId> ids = {5};
  SessionOptions options;
  options.n_ctx = 1;
  const auto resident = run_fresh(file, options, ids, 1);
  options.budget_bytes = stream::kBudgetMinimum;
  const auto streamed = run_fresh(file, options, ids, 1);
  ASSERT_TRUE(resident && streamed);
  EXPECT_TRUE(*resident == *streamed);
  MemoryHost host(file);
  const auto session = host.open(options);
  ASSERT_TRUE(session);
  const auto two = run_tokens(host, **session, std::vector<TokenId>{5, 6}, 1);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::context_full);
}

TEST(Windows, KeepTheCacheFlatOverALongPrompt) {
  const TinyModel model{.n_layers = 1, .n_ctx_train = 4096, .window = 16};
  const Bytes file = tiny_model(model);
  SessionOptions options;
  options.max_entries = 8;
  options.n_ctx = 64;
  MemoryHost host(file);
  const auto small = host.open(options);
  options.n_ctx = 2048;
  const auto large = host.open(options);
  ASSERT_TRUE(small && large);
  EXPECT_EQ((*small)->memory().kv_bytes, (*large)->memory().kv_bytes);
  // The ring wraps many times; the same positions computed with a window over a full cache (max_entries large) agree.
  const auto ids = some_tokens(600, model.vocab_size);
  const auto ring = run_tokens(host, **large, ids, 8);
  options.max_entries = 600;
  options.n_ctx = 600;
  const auto whole = run_fresh(file, options, ids, 600);
  ASSERT_TRUE(ring && whole);
  EXPECT_TRUE(ring->logits == whole->logits);
  EXPECT_TRUE(ring->kv == whole->kv);
}

TEST(Windows, GoingBackFurtherThanTheRingHoldsMeansAColdRun) {
  const TinyModel model{.n_layers = 1, .window = 6};
  SessionOptions options;
  options.max_entries = 4;
  MemoryHost host(tiny_model(model));
  const auto session = host.open(options);
  ASSERT_TRUE(session);
  ASSERT_TRUE(run_tokens(host, **session, some_tokens(40, model.vocab_size), 4));
  EXPECT_EQ(*(*session)->truncate(37), 37u);
  EXPECT_EQ(*(*session)->truncate(20), 0u);
  EXPECT_EQ((*session)->n_past(), 0u);
  const auto ids = some_tokens(40, model.vocab_size);
  const auto again = run_tokens(host, **session, ids, 4), cold = run_fresh(tiny_model(model), options, ids, 4);
  ASSERT_TRUE(again && cold);
  EXPECT_TRUE(*again == *cold);
}

// The ring has ten rows, the window six: a pass of six writes over what a pass from the old position would see, one of five does not.
TEST(Windows, ACancelledPassOfSeveralChunksForgetsWhatItWroteOver) {
  const TinyModel model{.n_layers = 2, .window = 6};
  SessionOptions options;
  options.max_entries = 40;
  options.chunk_entries = 4;
  const auto ids = some_tokens(40, model.vocab_size);
  const auto cold = run_fresh(tiny_model(model), options, ids, 4);
  ASSERT_TRUE(cold);
  for (const std::size_t n_cancelled : {5u, 6u, 30u}) {
    MemoryHost host(tiny_model(model));
    const auto session = host.open(options);
    ASSERT_TRUE(session);
    ASSERT_TRUE(run_tokens(host, **session, std::span(ids).first(10), 10));
    std::vector<Entry> entries;
    for (std::size_t i = 10; i < 10 + n_cancelled; ++i) entries.push_back({7, static_cast<std::uint32_t>(i), Wants::none});
    ASSERT_TRUE((*session)->begin_pass(entries));
    // To the end of the first block, which has then written all its rows.
    while ((*session)->stage() < 2) {
      host.start(**session);
      const auto state = (*session)->run(2000);
      ASSERT_TRUE(state);
      if (*state == RunState::needs_reads) {
        ASSERT_TRUE(host.finish_one(**session));
      }
    }
    (*session)->cancel_pass();
    host.settle(**session);
    ASSERT_EQ((*session)->n_past(), n_cancelled == 5 ? 10u : 0u) << n_cancelled;
    ASSERT_EQ((*session)->history().size(), (*session)->n_past());
    const auto rest = run_tokens(host, **session, std::span(ids).subspan((*session)->n_past()), 40);
    ASSERT_TRUE(rest);
    EXPECT_TRUE(rest->kv == cold->kv) << n_cancelled << " entries cancelled";
    EXPECT_TRUE(std::equal(rest->logits.rbegin(), rest->logits.rend(), cold->logits.rbegin())) << n_cancelled << " entries cancelled";
  }
}

TEST(Experts, OldAndMergedTensorsMeanTheSame) {
  TinyModel model{.n_experts = 4};
  const Bytes merged = tiny_model(model);
  model.old_expert_tensors = true;
  const Bytes old = tiny_model(model);
  const auto ids = some_tokens(9, model.vocab_size);
  const auto a = run_fresh(merged, {}, ids, 4), b = run_fresh(old, {}, ids, 9);
  ASSERT_TRUE(a) << a.error().message;
  ASSERT_TRUE(b) << b.error().message;
  EXPECT_TRUE(*a == *b);
}

TEST(Experts, OnlySelectedExpertsAreRead) {
  const TinyModel model{.n_layers = 1, .n_experts = 8, .n_experts_used = 2};
  MemoryHost host(tiny_model(model));
  SessionOptions options;
  options.budget_bytes = stream::kBudgetMinimum;
  const auto session = host.open(options);
  ASSERT_TRUE(session);
  const std::uint64_t all = (*session)->memory().total_weight_bytes;
  ASSERT_TRUE(run_tokens(host, **session, some_tokens(1, model.vocab_size), 1));
  const std::uint64_t expert_bytes = 3 * model.model_dim * model.ffn_dim * sizeof(float);
  // One token: six experts were not selected; embedding rows and norms come on top of the units.
  EXPECT_LE(host.bytes(), all - 6 * expert_bytes + 16384);
}

}  // namespace
}  // namespace layerstream::test

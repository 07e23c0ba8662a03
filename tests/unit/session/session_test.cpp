// SPDX-License-Identifier: MIT
// The session's contract: what it refuses, what it survives, what it reports.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "support/json.h"
#include "support/run_tokens.h"
#include "support/tiny_model.h"

namespace layerstream::test {
namespace {

Entry entry(TokenId token, std::uint32_t pos) { return {token, pos, Wants::logits}; }

class SessionTest : public testing::Test {
 protected:
  void open(const TinyModel& model, const SessionOptions& options, HostBehaviour behaviour = {}) {
    host_ = std::make_unique<MemoryHost>(tiny_model(model), behaviour);
    auto session = host_->open(options);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }
  ErrorCode begin_code(std::vector<Entry> entries) {
    const auto result = session_->begin_pass(entries);
    return result ? ErrorCode::internal : result.error().code;
  }
  std::unique_ptr<MemoryHost> host_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, RefusesEntriesThatDoNotFit) {
  open({}, {.n_ctx = 4, .max_entries = 3});
  EXPECT_EQ(begin_code({}), ErrorCode::bad_argument);
  EXPECT_EQ(begin_code({entry(280, 0)}), ErrorCode::bad_argument);
  EXPECT_EQ(begin_code({entry(-1, 0)}), ErrorCode::bad_argument);
  EXPECT_EQ(begin_code({entry(5, 1)}), ErrorCode::bad_argument);
  EXPECT_EQ(begin_code({entry(5, 0), entry(5, 0)}), ErrorCode::bad_argument);
  EXPECT_EQ(begin_code({entry(5, 0), entry(5, 1), entry(5, 2), entry(5, 3)}), ErrorCode::bad_argument);
  ASSERT_TRUE(run_tokens(*host_, *session_, some_tokens(3, 280), 3));
  const auto full = session_->begin_pass(std::vector{entry(5, 3), entry(5, 4)});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::context_full);
  EXPECT_NE(full.error().message.find("3 positions"), std::string::npos) << full.error().message;
  EXPECT_TRUE(session_->begin_pass(std::vector{entry(5, 3)}));
}

TEST_F(SessionTest, AContextOfOnePositionWorks) {
  open({.n_ctx_train = 1}, {});
  EXPECT_EQ(session_->n_ctx(), 1u);
  EXPECT_TRUE(run_tokens(*host_, *session_, some_tokens(1, 280), 1));
  EXPECT_EQ(begin_code({entry(5, 1)}), ErrorCode::context_full);
}

TEST_F(SessionTest, OnlyEntriesThatAskGetLogits) {
  open({}, {});
  ASSERT_TRUE(session_->begin_pass(std::vector{Entry{3, 0, Wants::none}, Entry{4, 1, Wants::logits}, Entry{5, 2, Wants::none}}));
  ASSERT_TRUE(host_->run(*session_));
  EXPECT_TRUE(session_->logits(0).empty());
  EXPECT_EQ(session_->logits(1).size(), 280u);
  EXPECT_TRUE(session_->logits(2).empty());
  EXPECT_FALSE(session_->sample());  // the last entry has none
}

TEST_F(SessionTest, ACancelledPassLeavesNoTrace) {
  open({}, {.budget_bytes = stream::kBudgetMinimum, .max_entries = 8, .unit_bytes = 1024}, {.max_in_flight = 3});
  const auto ids = some_tokens(6, 280);
  const auto reference = run_fresh(tiny_model({}), {.max_entries = 8}, ids, 6);
  ASSERT_TRUE(reference);
  const std::size_t chunk = std::min<std::size_t>(6, session_->max_entries());
  // Cancel after every possible number of waits.
  for (std::size_t waits = 0; waits < 60; ++waits) {
    std::vector<Entry> entries;
    for (const TokenId id : std::span(ids).first(chunk)) entries.push_back(entry(id, static_cast<std::uint32_t>(entries.size())));
    ASSERT_TRUE(session_->begin_pass(entries));
    bool done = false;
    for (std::size_t i = 0; i < waits && !done; ++i) {
      host_->start(*session_);
      const auto state = session_->run();
      ASSERT_TRUE(state);
      done = *state == RunState::done;
      if (!done) {
        host_->start(*session_);
        ASSERT_TRUE(host_->finish_one(*session_));
      }
    }
    session_->cancel_pass();
    host_->settle(*session_);
    ASSERT_TRUE(session_->truncate(0));
    const auto outcome = run_tokens(*host_, *session_, ids, chunk);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(*outcome == *reference) << "after " << waits << " waits";
    ASSERT_TRUE(session_->truncate(0));
  }
}

TEST_F(SessionTest, RowReadsOfACancelledPassMustEndBeforeTheNext) {
  open({}, {.budget_bytes = stream::kBudgetMinimum}, {.max_in_flight = 100});
  ASSERT_TRUE(session_->begin_pass(std::vector{entry(5, 0)}));
  host_->start(*session_);
  session_->cancel_pass();
  EXPECT_EQ(begin_code({entry(5, 0)}), ErrorCode::bad_argument);
  host_->settle(*session_);
  EXPECT_TRUE(session_->begin_pass(std::vector{entry(5, 0)}));
}

TEST_F(SessionTest, AfterFailedReadsTheNextTryGivesTheSameBits) {
  const auto ids = some_tokens(5, 280);
  const auto reference = run_fresh(tiny_model({}), {}, ids, 5);
  ASSERT_TRUE(reference);
  std::size_t failures = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    open({}, {.budget_bytes = stream::kBudgetMinimum, .max_entries = 8, .unit_bytes = 2048}, {.max_in_flight = 3, .reorder = true, .failure_rate = 0.005, .seed = seed});
    for (int attempt = 0;; ++attempt) {
      ASSERT_LT(attempt, 200);
      const auto outcome = run_tokens(*host_, *session_, ids, std::min<std::size_t>(5, session_->max_entries()));
      if (outcome) {
        ASSERT_TRUE(*outcome == *reference);
        break;
      }
      ASSERT_EQ(outcome.error().code, ErrorCode::io_failed);
      ++failures;
      session_->cancel_pass();
      host_->settle(*session_);
      ASSERT_TRUE(session_->truncate(0));
    }
  }
  EXPECT_GT(failures, 20u);
}

TEST_F(SessionTest, CompletingWhatIsNotInFlightIsRefused) {
  open({}, {});
  for (const std::uint32_t id : {0u, 5u, 1u << 28, 2u << 28, 3u << 28, UINT32_MAX}) {
    EXPECT_FALSE(session_->complete_read(id)) << id;
    EXPECT_FALSE(session_->fail_read(id)) << id;
  }
}

TEST_F(SessionTest, RunWithoutAPassIsRefused) {
  open({}, {});
  EXPECT_FALSE(session_->run());
}

TEST_F(SessionTest, NonFiniteLogitsAreAnError) {
  TinyModelWriter writer(TinyModel{});
  Bytes file = writer.write();
  const std::vector<float> poison(64, std::numeric_limits<float>::quiet_NaN());
  // The weights of the final norm are found by their pattern: overwrite the first norm-sized tensor after the header.
  MemoryHost probe(file);
  auto parsed = gguf::Header::parse(file, file.size());
  ASSERT_TRUE(parsed);
  const auto& header = std::get<gguf::Header>(*parsed);
  for (const auto& tensor : header.tensors()) {
    if (tensor.name == "output_norm.weight") std::memcpy(file.data() + tensor.offset, poison.data(), tensor.bytes);
  }
  const auto outcome = run_fresh(file, {}, some_tokens(2, 280), 2);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::non_finite);
}

TEST_F(SessionTest, BudgetTooSmallNamesTheNumbers) {
  MemoryHost host(tiny_model({}));
  const auto session = host.open({.budget_bytes = 1000});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::budget_too_small);
  EXPECT_NE(session.error().message.find("the budget is 1000"), std::string::npos) << session.error().message;
}

TEST_F(SessionTest, EveryBudgetBetweenMinimumAndResidentGivesTheSameBitsWithinThePlan) {
  const TinyModel model{.n_layers = 4};
  const auto ids = some_tokens(12, 280);
  const auto reference = run_fresh(tiny_model(model), {.n_ctx = 32}, ids, 12);
  ASSERT_TRUE(reference);
  MemoryHost probe(tiny_model(model));
  const std::uint64_t full = (*probe.open({.n_ctx = 32, .unit_bytes = 4096}))->plan().total_bytes();
  std::size_t opened = 0;
  for (std::uint64_t budget = full / 20; budget <= full + full / 20; budget += full / 20) {
    MemoryHost host(tiny_model(model), {.max_in_flight = 2});
    const auto session = host.open({.n_ctx = 32, .budget_bytes = budget, .unit_bytes = 4096});
    if (!session) {
      EXPECT_EQ(session.error().code, ErrorCode::budget_too_small);
      continue;
    }
    ++opened;
    const auto outcome = run_tokens(host, **session, ids, std::min<std::size_t>(12, (*session)->max_entries()));
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->kv == reference->kv && outcome->logits == reference->logits) << budget;
    EXPECT_LE((*session)->plan().total_bytes(), budget);
    const MemoryUse use = (*session)->memory();
    const std::uint64_t logits_beyond_plan = (std::min<std::uint64_t>(12, (*session)->max_entries()) - 1) * 280 * 4;
    EXPECT_LE(use.total_bytes(), (*session)->plan().total_bytes() + logits_beyond_plan) << budget;
  }
  EXPECT_GT(opened, 5u);
}

TEST_F(SessionTest, ThePlanFromTheHeaderIsThePlanOfTheSession) {
  for (const std::uint64_t budget : {stream::kBudgetMinimum, std::uint64_t{2'500'000}, stream::kBudgetUnlimited}) {
    const SessionOptions options{.n_ctx = 32, .budget_bytes = budget, .unit_bytes = 4096};
    open({.n_layers = 4}, options);
    const auto plan = Session::plan_json(*host_->model_file(), options);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(*plan, session_->describe_json(false));
  }
}

TEST_F(SessionTest, ABudgetTooSmallForLargeSlicesGetsSmallerOnes) {
  MemoryHost host(tiny_model({.type = QuantType::q8_0, .n_layers = 1, .vocab_size = 40'000}));
  SessionOptions options{.n_ctx = 16, .budget_bytes = stream::kBudgetMinimum, .max_entries = 1};
  const stream::Plan smallest = (*host.open(options))->plan();
  ASSERT_GT(smallest.slot_bytes, 2'600'000u) << "all of the output matrix";
  options.budget_bytes = smallest.total_bytes() - 2'000'000;
  const auto session = host.open(options);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_LE((*session)->plan().total_bytes(), options.budget_bytes);
  EXPECT_LT((*session)->plan().slot_bytes, 1u << 20);
}

TEST_F(SessionTest, ARaisedBudgetPinsMoreAtOnceAndChangesNoBit) {
  const TinyModel model{.n_layers = 4};
  const auto ids = some_tokens(12, 280);
  const auto reference = run_fresh(tiny_model(model), {.n_ctx = 32, .max_entries = 4}, ids, 4);
  ASSERT_TRUE(reference);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    open(model, {.n_ctx = 32, .budget_bytes = stream::kBudgetMinimum, .max_entries = 4, .unit_bytes = 4096}, {.max_in_flight = 3, .reorder = true, .seed = seed});
    const auto first = run_tokens(*host_, *session_, std::span(ids).first(4), 4);
    ASSERT_TRUE(first);
    host_->settle(*session_);
    const stream::Plan before = session_->plan();
    EXPECT_FALSE(session_->raise_budget(before.total_bytes() - 1));
    ASSERT_TRUE(session_->raise_budget(before.total_bytes() + before.weight_bytes / 2));
    EXPECT_GT(session_->plan().pinned_bytes, before.weight_bytes / 3);
    const std::uint64_t logits_beyond_plan = 3 * 280 * 4;
    EXPECT_LE(session_->memory().total_bytes(), session_->plan().total_bytes() + logits_beyond_plan);
    ASSERT_TRUE(run_tokens(*host_, *session_, std::span(ids).subspan(4, 4), 4));
    host_->settle(*session_);
    ASSERT_TRUE(session_->raise_budget(stream::kBudgetUnlimited));
    EXPECT_EQ(session_->plan().streamed_bytes_per_pass, 0u);
    const auto last = run_tokens(*host_, *session_, std::span(ids).subspan(8, 4), 4);
    ASSERT_TRUE(last);
    EXPECT_TRUE(last->kv == reference->kv);
    const std::uint64_t bytes = session_->bytes_read();
    ASSERT_TRUE(run_tokens(*host_, *session_, std::span(ids).first(1), 1));
    EXPECT_LE(session_->bytes_read() - bytes, 64u * 4) << "everything is there";
  }
}

TEST_F(SessionTest, ACacheMovesToAnotherSession) {
  for (const TinyModel& model : {TinyModel{}, TinyModel{.family = "gemma2", .n_layers = 4, .window = 5}}) {
    const auto ids = some_tokens(20, 280);
    for (const std::size_t n_before : {0u, 4u, 9u}) {
      open(model, {.n_ctx = 32});
      const auto reference = run_tokens(*host_, *session_, ids, 1);
      ASSERT_TRUE(reference);
      open(model, {.n_ctx = 32});
      ASSERT_TRUE(run_tokens(*host_, *session_, std::span(ids).first(n_before), 4));
      const std::vector<std::byte> kv = session_->dump_kv();
      std::vector<std::vector<std::byte>> layers;
      for (std::size_t layer = 0; layer < model.n_layers; ++layer) layers.push_back(session_->dump_kv_layer(layer));
      const std::vector<TokenId> history(session_->history().begin(), session_->history().end());
      ASSERT_EQ(history.size(), n_before);
      open(model, {.n_ctx = 32, .budget_bytes = stream::kBudgetMinimum, .max_entries = 3, .unit_bytes = 2048});
      const auto n_past = static_cast<std::uint32_t>(n_before);
      EXPECT_FALSE(session_->restore_kv_layer(0, std::span(layers[0]).first(layers[0].size() / 2), n_past) && n_before > 0);
      EXPECT_FALSE(session_->restore_kv_layer(model.n_layers, layers[0], n_past));
      for (std::size_t layer = 0; layer < model.n_layers; ++layer) ASSERT_TRUE(session_->restore_kv_layer(layer, layers[layer], n_past));
      ASSERT_TRUE(session_->restore_history(history));
      EXPECT_EQ(session_->n_past(), n_before);
      EXPECT_TRUE(session_->dump_kv() == kv);
      const auto rest = run_tokens(*host_, *session_, std::span(ids).subspan(n_before), 3);
      ASSERT_TRUE(rest);
      EXPECT_TRUE(rest->kv == reference->kv) << model.family << " after " << n_before;
      // Going back behind what a window still holds is refused, as it is without a move.
      const auto kept = session_->truncate(static_cast<std::uint32_t>(n_before) / 2);
      ASSERT_TRUE(kept);
      ASSERT_TRUE(run_tokens(*host_, *session_, std::span(ids).subspan(*kept), 3));
      EXPECT_TRUE(session_->dump_kv() == reference->kv) << model.family << " resumed at " << *kept;
    }
  }
}

TEST_F(SessionTest, OnlyTheExpertsThatAPassSelectedAreRead) {
  const TinyModel model{.n_layers = 3, .n_experts = 8};
  open(model, {.n_ctx = 32, .budget_bytes = stream::kBudgetMinimum, .max_entries = 1, .unit_bytes = 4096});
  const stream::Plan& plan = session_->plan();
  ASSERT_TRUE(run_tokens(*host_, *session_, some_tokens(4, 280), 1));
  host_->settle(*session_);
  const std::uint64_t before = session_->bytes_read();
  ASSERT_TRUE(run_tokens(*host_, *session_, some_tokens(10, 280), 1));
  host_->settle(*session_);
  const std::uint64_t per_token = (session_->bytes_read() - before) / 10;
  EXPECT_NEAR(static_cast<double>(per_token), static_cast<double>(plan.read_bytes_per_token), 0.02 * static_cast<double>(plan.read_bytes_per_token));
  EXPECT_LT(plan.read_bytes_per_token, plan.streamed_bytes_per_pass / 2);
}

TEST_F(SessionTest, AResidentModelReadsItsWeightsOnce) {
  open({}, {});
  ASSERT_TRUE(run_tokens(*host_, *session_, some_tokens(4, 280), 1));
  const std::uint64_t after_first = session_->bytes_read();
  EXPECT_GE(after_first, session_->memory().total_weight_bytes);
  ASSERT_TRUE(run_tokens(*host_, *session_, some_tokens(4, 280), 1));
  // Only embedding rows come on top.
  EXPECT_LE(session_->bytes_read() - after_first, 4u * 64 * 4);
  EXPECT_EQ(session_->sweeps(), 8u);
}

TEST_F(SessionTest, DescriptionIsJsonThatStatesWindowsAndRopes) {
  open({.family = "gemma3", .n_layers = 6, .window = 9}, {});
  const auto json = Json::parse(session_->describe_json(true));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("architecture").string(), "gemma3");
  const auto& layers = json->at("config").at("layers").array();
  ASSERT_EQ(layers.size(), 6u);
  EXPECT_EQ(layers[0].at("window").number(), 9);
  EXPECT_EQ(layers[0].at("rope").at("base").number(), 10000);
  EXPECT_EQ(layers[5].at("window").number(), 0);
  EXPECT_EQ(json->at("roles").at("q_norm").number(), 6);
  EXPECT_FALSE(json->at("tensors").array().empty());
}

TEST_F(SessionTest, DescriptionHasTheNamedChatTemplates) {
  TinyModelWriter writer(TinyModel{});
  writer.writer()
      .add("tokenizer.chat_template", "own")
      .add_string_array("tokenizer.chat_templates", {"tool_use", "rag"})
      .add("tokenizer.chat_template.tool_use", "for tools")
      .add("tokenizer.chat_template.rag", "for documents")
      .add_u32("tokenizer.chat_template.number", 1);  // no text: left out
  MemoryHost host(writer.write());
  const auto session = host.open({});
  ASSERT_TRUE(session) << session.error().message;
  const auto json = Json::parse((*session)->describe_json(false));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("chat_template").string(), "own");
  const Json& named = json->at("chat_templates");
  EXPECT_EQ(named.object().size(), 2u);
  EXPECT_EQ(named.at("tool_use").string(), "for tools");
  EXPECT_EQ(named.at("rag").string(), "for documents");
}

TEST_F(SessionTest, SplitModelsRunLikeWholeOnes) {
  const TinyModel model{};
  const Bytes whole = tiny_model(model);
  const auto ids = some_tokens(7, 280);
  const auto reference = run_fresh(whole, {}, ids, 7);
  ASSERT_TRUE(reference);
  // Part 1 gets the metadata and every second tensor, part 2 the rest.
  auto parsed = gguf::Header::parse(whole, whole.size());
  ASSERT_TRUE(parsed);
  const auto& header = std::get<gguf::Header>(*parsed);
  const auto n = static_cast<std::int32_t>(header.tensors().size());
  GgufWriter first, second;
  for (const auto& pair : header.metadata().pairs()) {
    Bytes payload;
    if (pair.value.type == gguf::ValueType::array) {
      first.add_raw_array(pair.key, static_cast<std::uint32_t>(pair.value.element_type), pair.value.count, Bytes(pair.value.bytes.begin(), pair.value.bytes.end()));
    } else {
      first.add_raw(pair.key, static_cast<std::uint32_t>(pair.value.type), Bytes(pair.value.bytes.begin(), pair.value.bytes.end()));
    }
  }
  first.add_split(0, 2, n);
  second.add_split(1, 2, n);
  int i = 0;
  for (const auto& tensor : header.tensors()) {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
    (i++ % 2 == 0 ? first : second).add_tensor(tensor.name, tensor.type, std::vector<std::uint64_t>(tensor.dims, tensor.dims + tensor.n_dims), Bytes(begin, begin + static_cast<std::ptrdiff_t>(tensor.bytes)));
  }
  MemoryHost host(std::vector<Bytes>{first.finish(), second.finish()});
  const auto session = host.open({.budget_bytes = stream::kBudgetMinimum, .max_entries = 8});
  ASSERT_TRUE(session) << session.error().message;
  const auto outcome = run_tokens(host, **session, ids, 7);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->logits == reference->logits);
}

}  // namespace
}  // namespace layerstream::test

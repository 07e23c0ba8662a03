// SPDX-License-Identifier: MIT
// Where the time goes, with a clock that ticks once a look: a kind of operation that ran n times took n ticks.
#include <gtest/gtest.h>

#include "support/run_tokens.h"
#include "support/tiny_model.h"

namespace layerstream::test {
namespace {

using runtime::Operation;
using runtime::Profile;

double ticks = 0;
double tick() { return ++ticks; }

constexpr std::size_t kTokens = 6;

// Of one pass over kTokens entries that all want logits, and a draw.
Outcome run(const TinyModel& model, const SessionOptions& options, Profile* profile, std::uint64_t max_work = UINT64_MAX) {
  MemoryHost host(tiny_model(model), {});
  const auto session = host.open(options);
  EXPECT_TRUE(session);
  (*session)->set_profile(profile);
  const auto outcome = run_tokens(host, **session, some_tokens(kTokens, model.vocab_size), kTokens, max_work);
  EXPECT_TRUE(outcome);
  EXPECT_TRUE((*session)->sample());
  host.settle(**session);
  return outcome.value_or(Outcome{});
}

std::uint64_t multiply_adds(const TinyModel& m) {
  const std::uint64_t q = m.n_heads * m.head_dim, kv = m.n_kv_heads * m.head_dim;
  return kTokens * (m.n_layers * m.model_dim * (2 * q + 2 * kv + 3 * m.ffn_dim) + m.vocab_size * m.model_dim);
}

TEST(Profile, EveryMultiplyAddIsCountedByTensorType) {
  for (const QuantType type : {QuantType::f32, QuantType::q8_0, QuantType::q4_0}) {
    for (const std::uint64_t unit_bytes : {std::uint64_t{1} << 20, std::uint64_t{1024}}) {
      const TinyModel model{.type = type};
      Profile profile{.now = tick};
      run(model, {.unit_bytes = unit_bytes}, &profile);
      std::uint64_t work = 0;
      for (const runtime::Spent& spent : profile.matmul) work += spent.work;
      EXPECT_EQ(profile.of(type).work, multiply_adds(model));
      EXPECT_EQ(work, multiply_adds(model));
      EXPECT_GE(profile.of(type).calls, 7 * model.n_layers + 1);
    }
  }
}

TEST(Profile, EachOperationOfABlockIsTimedOnceAPass) {
  const TinyModel model{.type = QuantType::q8_0};
  Profile profile{.now = tick};
  run(model, {}, &profile);
  const auto calls = [&](Operation operation) { return profile.of(operation).calls; };
  EXPECT_EQ(calls(Operation::embedding), 1u);
  EXPECT_EQ(calls(Operation::norm), 2 * model.n_layers + 1);
  EXPECT_EQ(calls(Operation::quantize), 4 * model.n_layers + 1);
  EXPECT_EQ(calls(Operation::rope), model.n_layers);
  EXPECT_EQ(calls(Operation::attention), model.n_layers);
  EXPECT_EQ(calls(Operation::activation), model.n_layers);
  EXPECT_EQ(calls(Operation::residual), 2 * model.n_layers);
  EXPECT_EQ(calls(Operation::experts), 0u);
  EXPECT_EQ(calls(Operation::sampling), 1u);
  for (const runtime::Spent& spent : profile.operations) EXPECT_EQ(spent.seconds, static_cast<double>(spent.calls));
  for (const runtime::Spent& spent : profile.matmul) EXPECT_EQ(spent.seconds, static_cast<double>(spent.calls));
}

TEST(Profile, MeasuringChangesNoBit) {
  const TinyModel model{.type = QuantType::q4_0, .n_experts = 4};
  Profile profile{.now = tick};
  EXPECT_EQ(run(model, {}, &profile), run(model, {}, nullptr));
  EXPECT_GT(profile.of(Operation::experts).calls, 0u);
}

TEST(Profile, LinesThatAReplaySkipsAreNotCountedAgain) {
  const TinyModel model{.type = QuantType::q8_0};
  Profile at_once{.now = tick}, in_pieces{.now = tick};
  run(model, {.unit_bytes = 1024}, &at_once);
  run(model, {.unit_bytes = 1024}, &in_pieces, 1);
  EXPECT_EQ(in_pieces.of(QuantType::q8_0).work, at_once.of(QuantType::q8_0).work);
  EXPECT_EQ(in_pieces.of(Operation::attention).calls, at_once.of(Operation::attention).calls);
}

}  // namespace
}  // namespace layerstream::test

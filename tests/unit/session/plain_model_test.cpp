// SPDX-License-Identifier: MIT
// Families and shapes no golden case has, against a plain double-precision model.
#include <gtest/gtest.h>

#include "support/plain_model.h"
#include "support/tiny_model.h"

namespace layerstream::test {
namespace {

struct Shape {
  const char* name;
  TinyModel model;
  std::size_t n_tokens = 12;
};

const std::vector<Shape> kShapes = {
    {"qwen3", {.family = "qwen3"}},
    {"qwen3_tied", {.family = "qwen3", .tied = true}},
    {"qwen3_wide_heads", {.family = "qwen3", .n_layers = 1, .head_dim = 40}},
    {"qwen2_biases", {.family = "qwen2"}},
    {"seven_heads_on_one", {.n_heads = 7, .n_kv_heads = 1}},
    {"fourteen_heads_on_two", {.n_heads = 14, .n_kv_heads = 2, .head_dim = 8}},
    {"one_kv_head", {.n_kv_heads = 1}},
    {"as_many_kv_heads_as_heads", {.n_kv_heads = 4}},
    {"head_dim_larger_than_the_share", {.head_dim = 48}},
    {"head_dim_smaller_than_the_share", {.head_dim = 8}},
    {"head_dim_not_a_multiple_of_16", {.n_heads = 3, .n_kv_heads = 3, .head_dim = 22}},
    {"head_dim_not_a_multiple_of_4", {.n_heads = 3, .n_kv_heads = 1, .head_dim = 14}},
    {"one_layer", {.n_layers = 1}},
    {"vocab_not_a_multiple_of_8", {.vocab_size = 277}},
    {"context_of_one", {.n_ctx_train = 1}, 1},
    {"odd_widths", {.model_dim = 68, .ffn_dim = 100}},
};

class PlainlyTheSame : public testing::TestWithParam<Shape> {};

TEST_P(PlainlyTheSame, LogitsOfEveryPosition) {
  const TinyModel& model = GetParam().model;
  const Bytes bytes = tiny_model(model);
  MemoryHost host(bytes);
  const auto file = host.model_file();
  ASSERT_TRUE(file) << file.error().message;
  const auto ids = some_tokens(GetParam().n_tokens, model.vocab_size);
  const auto expected = PlainModel(bytes, *file, model.family != "llama").logits(ids);

  SessionOptions options;
  options.kv_type = KvCacheType::f32;
  const auto outcome = run_fresh(bytes, options, ids, ids.size());
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->logits.size(), ids.size() * model.vocab_size);
  double error = 0, power = 0;
  for (std::size_t e = 0; e < ids.size(); ++e) {
    for (std::size_t i = 0; i < model.vocab_size; ++i) {
      const double difference = std::bit_cast<float>(outcome->logits[e * model.vocab_size + i]) - expected[e][i];
      error += difference * difference;
      power += expected[e][i] * expected[e][i];
    }
  }
  EXPECT_GT(power, 1.0);
  EXPECT_LT(error / power, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PlainlyTheSame, testing::ValuesIn(kShapes), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace layerstream::test

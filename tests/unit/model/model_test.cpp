// SPDX-License-Identifier: MIT
// Configs and tensors that are refused, and what the message names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/family.h"
#include "model/rope_config.h"
#include "model/weights.h"
#include "support/tiny_model.h"

namespace layerstream::model {
namespace {

using test::TinyModel;
using test::TinyModelWriter;

Result<Weights> open(const test::Bytes& file, ModelConfig* config_out = nullptr) {
  auto parsed = LS_TRY(gguf::Header::parse(file, file.size()));
  std::vector<gguf::Header> parts;
  parts.push_back(std::move(std::get<gguf::Header>(parsed)));
  const auto model_file = LS_TRY(gguf::ModelFile::create(std::move(parts)));
  const auto found = LS_TRY(read_config(model_file));
  if (config_out != nullptr) *config_out = found.config;
  return bind(model_file, *found.family, found.config, 1 << 20);
}

void expect_refused(const test::Bytes& file, ErrorCode code, const std::string& names) {
  const auto weights = open(file);
  ASSERT_FALSE(weights) << names;
  EXPECT_EQ(weights.error().code, code) << weights.error().message;
  EXPECT_NE(weights.error().message.find(names), std::string::npos) << weights.error().message;
}

// A model whose key is replaced: the writer keeps duplicates out by leaving the original unwritten.
test::Bytes with_key(const std::string& family, const std::function<void(test::GgufWriter&)>& change, TinyModel model = {}) {
  model.family = family;
  TinyModelWriter writer(model);
  change(writer.writer());
  return writer.writer().finish();
}

TEST(Families, UnknownArchitectureIsRefusedWithTheList) {
  TinyModel model;
  model.family = "mamba";
  expect_refused(test::tiny_model(model), ErrorCode::unsupported_arch, "\"mamba\" is not implemented; supported: llama, mistral");
}

TEST(Families, AliasesMeanLlama) {
  for (const std::string name : {"mistral", "mixtral", "nemo"}) {
    ModelConfig config;
    TinyModel model;
    model.family = name;
    ASSERT_TRUE(open(test::tiny_model(model), &config)) << name;
    EXPECT_EQ(config.family, "llama");
  }
}

TEST(Families, EveryFamilyBindsItsTinyModel) {
  for (const Family* family : all_families()) {
    TinyModel model;
    model.family = std::string(family->name);
    if (family->name == "gpt2" || family->name == "phi2") model.n_kv_heads = model.n_heads;
    const auto weights = open(test::tiny_model(model));
    EXPECT_TRUE(weights) << family->name << ": " << weights.error().message;
  }
}

TEST(Refusals, MisshapenTensorNamesExpectedAndFound) {
  TinyModel narrow;
  narrow.n_kv_heads = 4;
  TinyModelWriter writer(narrow);
  auto& w = writer.writer();
  auto bytes = w.finish();
  // The same tensors under a config with two kv heads.
  auto parsed = gguf::Header::parse(bytes, bytes.size());
  ASSERT_TRUE(parsed);
  const auto* kv = std::get<gguf::Header>(*parsed).metadata().find("llama.attention.head_count_kv");
  ASSERT_NE(kv, nullptr);
  const std::byte two[4] = {std::byte{2}, std::byte{0}, std::byte{0}, std::byte{0}};
  const std::string pattern = "llama.attention.head_count_kv";
  const auto at = std::search(bytes.begin(), bytes.end(), reinterpret_cast<const std::byte*>(pattern.data()), reinterpret_cast<const std::byte*>(pattern.data()) + pattern.size());
  ASSERT_NE(at, bytes.end());
  std::copy(two, two + 4, at + static_cast<std::ptrdiff_t>(pattern.size()) + 4);
  expect_refused(bytes, ErrorCode::shape_mismatch, "blk.0.attn_k.weight is [64,64], expected [32,64]");
}

TEST(Refusals, ATensorWithoutARoleIsNotSilentlyIgnored) {
  expect_refused(with_key("llama", [](auto& w) { w.add_zero_tensor("blk.0.attn_sinks.weight", QuantType::f32, {4}); }), ErrorCode::bad_file, "blk.0.attn_sinks.weight");
  // Known to change nothing.
  EXPECT_TRUE(open(with_key("llama", [](auto& w) { w.add_zero_tensor("blk.0.attn_q.input_scale", QuantType::f32, {1}); })));
  EXPECT_TRUE(open(with_key("llama", [](auto& w) { w.add_zero_tensor("v.patch_embd.weight", QuantType::f32, {4}); })));
}

TEST(Refusals, ImpossibleConfigsNameTheirKey) {
  const struct {
    const char* name;
    TinyModel model;
    const char* names;
  } cases[] = {
      {"heads do not divide", {.n_heads = 3, .n_kv_heads = 2}, "3 query heads over 2"},
      {"odd rope", {.n_heads = 4, .head_dim = 15}, "rope.dimension_count is 15"},
  };
  for (const auto& c : cases) {
    const auto weights = open(test::tiny_model(c.model));
    ASSERT_FALSE(weights) << c.name;
    EXPECT_NE(weights.error().message.find(c.names), std::string::npos) << weights.error().message;
  }
  expect_refused(with_key("llama", [](auto& w) { w.add("llama.rope.scaling.type", "su"); }), ErrorCode::bad_value, "rope.scaling.type is \"su\"");
  expect_refused(with_key("llama", [](auto& w) { w.add_f32("llama.rope.freq_base", -1.0f); }), ErrorCode::bad_value, "llama.rope.freq_base");
  expect_refused(with_key("llama", [](auto& w) { w.add_f32("llama.rope.scaling.factor", std::nanf("")); }), ErrorCode::bad_value, "llama.rope.scaling.factor");
}

TEST(Configs, KeysOfOtherWidthsAndPerLayerArraysAreAccepted) {
  ModelConfig config;
  ASSERT_TRUE(open(with_key("gemma3", [](auto& w) {
                     w.add_f64("gemma3.rope.global.freq_base", 5e5).add_bool_array("gemma3.attention.sliding_window_pattern", {false, true});
                   }, {.window = 5}), &config));
  EXPECT_EQ(config.layers[0].window, 0u);
  EXPECT_EQ(config.layers[1].window, 5u);
  EXPECT_EQ(config.ropes[0].base, 5e5);
  EXPECT_EQ(config.ropes[1].base, 10000.0);
}

TEST(Configs, Gemma2DefaultsWithoutItsKeys) {
  ModelConfig config;
  ASSERT_TRUE(open(test::tiny_model({.family = "gemma2", .n_layers = 3}), &config));
  EXPECT_EQ(config.attention_soft_cap, 50.0f);
  EXPECT_EQ(config.final_soft_cap, 30.0f);
  EXPECT_EQ(config.layers[0].window, 4096u);
  EXPECT_EQ(config.layers[1].window, 0u);
}

TEST(Units, SlicesCoverEveryMatrixExactlyOnceInExecutionOrder) {
  for (const std::size_t experts : {0u, 3u}) {
    TinyModel model{.vocab_size = 277, .n_experts = experts};
    const auto file = test::tiny_model(model);
    auto parsed = gguf::Header::parse(file, file.size());
    std::vector<gguf::Header> parts;
    parts.push_back(std::move(std::get<gguf::Header>(*parsed)));
    const auto model_file = gguf::ModelFile::create(std::move(parts));
    const auto found = read_config(*model_file);
    const auto weights = bind(*model_file, *found->family, found->config, 3000);
    ASSERT_TRUE(weights);
    std::uint64_t total = 0, matrices = 0;
    std::uint32_t stage = 0;
    for (const auto& unit : weights->units) {
      EXPECT_GE(unit.stage, stage);
      stage = unit.stage;
      total += unit.bytes;
    }
    for (const auto& tensor : model_file->tensors()) {
      if (tensor.n_dims >= 2 && tensor.name != "token_embd.weight") matrices += tensor.bytes;
    }
    EXPECT_EQ(total, matrices);
  }
}

TEST(Rope, LinearScalingAndDivisorsDivideTheAngle) {
  RopeSettings settings{.dims = 8, .scaling = RopeSettings::Scaling::linear, .factor = 4};
  const auto plain = make_rope({.dims = 8}, {}), scaled = make_rope(settings, {});
  const float divisors[4] = {1, 2, 3, 4};
  const auto divided = make_rope({.dims = 8}, divisors);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(scaled->inverse_frequencies[i] * 4, plain->inverse_frequencies[i]);
    EXPECT_DOUBLE_EQ(divided->inverse_frequencies[i] * divisors[i], plain->inverse_frequencies[i]);
  }
  const float bad[4] = {1, 0, 3, 4};
  EXPECT_EQ(make_rope({.dims = 8}, bad).error().code, ErrorCode::bad_value);
}

}  // namespace
}  // namespace layerstream::model

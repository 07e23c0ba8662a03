// SPDX-License-Identifier: MIT
// The golden cases notice what they are there for: each feature of the block is broken on purpose, and the case named for
// it must then fail. A case that passes either way proves nothing.
#include <gtest/gtest.h>

#include <ostream>

#include "support/golden_case.h"

namespace layerstream::test {
namespace {

using model::Block;
using model::LayerConfig;
using model::Model;
using model::ModelConfig;
using model::RopeSettings;

constexpr double kLimit = 1e-9;  // NMSE of the golden rule for F32 weights

struct Mutation {
  const char* golden;
  const char* name;
  SessionImpl::Adjust adjust;
  // How far beyond the rule it must be: a break that is barely seen today is not seen after a change of rounding.
  double times_the_limit = 1000;
  friend void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.golden << ": " << mutation.name; }
};

template <auto member>
void drop_in_blocks(Model& m) {
  for (Block& block : m.weights.blocks) block.*member = {};
}

template <model::Matrix Block::* matrix>
void drop_bias(Model& m) {
  for (Block& block : m.weights.blocks) (block.*matrix).bias = {};
}

template <model::Matrix Block::* matrix>
void drop_scale(Model& m) {
  for (Block& block : m.weights.blocks) (block.*matrix).scale = {};
}

template <int change>
void change_windows(Model& m) {
  for (LayerConfig& layer : m.config.layers) {
    if (layer.window > 0) layer.window = static_cast<std::uint32_t>(static_cast<int>(layer.window) + change);
  }
}

void drop_windows(Model& m) {
  for (LayerConfig& layer : m.config.layers) layer.window = 0;
}

void windows_on_the_other_layers(Model& m) {
  for (LayerConfig& layer : m.config.layers) layer.window = layer.window > 0 ? 0 : 8;
}

void other_rope_pairs(Model& m) {
  m.config.rope_pairs = m.config.rope_pairs == kernels::RopePairs::adjacent ? kernels::RopePairs::half_split : kernels::RopePairs::adjacent;
}

void no_rope_scaling(Model& m) { m.config.ropes[0].scaling = RopeSettings::Scaling::none; }
void linear_rope_scaling(Model& m) { m.config.ropes[0].scaling = RopeSettings::Scaling::linear; }
void no_rope_divisors(Model& m) { m.config.ropes[0].use_divisors = false; }
void no_attention_factor(Model& m) { m.config.ropes[0].attention_factor = 1.0; }
void swap_long_and_short(Model& m) { std::swap(m.weights.rope_long, m.weights.rope_short); }
void ordinary_rope_base(Model& m) { m.config.ropes[0].base = 10000.0; }

const std::vector<Mutation> kMutations = {
    // windows
    {"gemma2-a", "window one wider", change_windows<1>},
    {"gemma2-a", "window one narrower", change_windows<-1>},
    {"gemma2-a", "no window", drop_windows},
    {"gemma2-a", "windows on the odd layers", windows_on_the_other_layers},
    {"gemma3-a", "window one wider", change_windows<1>},
    {"gemma3-a", "window on the global layer too", [](Model& m) { for (LayerConfig& layer : m.config.layers) layer.window = 8; }},
    {"phi3-window-a", "window one wider", change_windows<1>},
    {"phi3-window-a", "no window", drop_windows},
    {"mistral-window-a", "window one narrower", change_windows<-1>},
    {"mistral-window-a", "no window", drop_windows},
    // soft-caps
    {"gemma2-a", "no cap on the scores", [](Model& m) { m.config.attention_soft_cap = 0; }},
    {"gemma2-a", "another cap on the scores", [](Model& m) { m.config.attention_soft_cap *= 1.1f; }},
    {"gemma2-a", "no cap on the logits", [](Model& m) { m.config.final_soft_cap = 0; }},
    // scales
    {"gemma2-a", "no scale on the embedding", [](Model& m) { m.config.embedding_scale = 1; }},
    {"gemma2-27b-a", "scores scaled by the head's size", [](Model& m) { m.config.attention_scale = 1.0f / std::sqrt(static_cast<float>(m.config.head_dim)); }},
    {"nemo-a", "scores scaled by model_dim / n_heads", [](Model& m) { m.config.attention_scale = 0.25f; }},
    {"llama-scale-a", "no scale on q", drop_scale<&Block::q>},
    {"llama-scale-a", "no scale on k", drop_scale<&Block::k>},
    {"llama-scale-a", "no scale on v", drop_scale<&Block::v>},
    {"llama-scale-a", "no scale on the attention's output", drop_scale<&Block::attn_out>},
    {"llama-scale-a", "no scale on gate", drop_scale<&Block::gate>},
    {"llama-scale-a", "no scale on up", drop_scale<&Block::up>},
    {"llama-scale-a", "no scale on down", drop_scale<&Block::down>},
    {"moe-scale-a", "one factor for all experts", [](Model& m) { for (Block& block : m.weights.blocks) for (model::Expert& expert : block.experts) expert.down.scale_index = 0; }},
    // rope
    {"llama-plain-a", "half-split pairs", other_rope_pairs},
    {"qwen2-a", "adjacent pairs", other_rope_pairs},
    {"phi2-a", "the whole head rotated", [](Model& m) { m.config.ropes[0].dims = m.config.head_dim; }},
    {"phi2-a", "adjacent pairs", other_rope_pairs},
    {"gemma3-a", "one base for all layers", [](Model& m) { for (LayerConfig& layer : m.config.layers) layer.rope = 0; }},
    {"gemma3-a", "bases swapped", [](Model& m) { for (LayerConfig& layer : m.config.layers) layer.rope = 1 - layer.rope; }},
    {"nemo-a", "the usual base", ordinary_rope_base},
    {"llama-linear-a", "no scaling", no_rope_scaling},
    {"llama-yarn-a", "no scaling", no_rope_scaling},
    {"llama-yarn-a", "linear scaling", linear_rope_scaling},
    {"llama-yarn-a", "another original context", [](Model& m) { m.config.ropes[0].original_context *= 2; }},
    {"qwen2-yarn-a", "linear scaling", linear_rope_scaling},
    {"llama-rope3-a", "rope_freqs ignored", no_rope_divisors},
    {"phi3-long-a", "short factors", swap_long_and_short},
    {"phi3-long-a", "no factors", no_rope_divisors},
    {"phi3-long-a", "no attention factor", no_attention_factor},
    {"phi3-partial-a", "long factors", swap_long_and_short},
    // norms and their places
    {"llama-plain-a", "the two norms of a block exchanged", [](Model& m) { for (Block& block : m.weights.blocks) std::swap(block.attn_norm, block.ffn_norm); }},
    {"llama-plain-a", "another epsilon", [](Model& m) { m.config.norm_eps *= 100; }, 100},
    {"gpt2-a", "RMS norm", [](Model& m) { m.config.norm = model::NormKind::rms; }},
    {"phi2-a", "one half after the other", [](Model& m) {
       m.config.parallel_residual = false;
       for (Block& block : m.weights.blocks) block.ffn_norm = block.attn_norm;
     }},
    {"gemma2-a", "no norm after the attention", drop_in_blocks<&Block::attn_post_norm>},
    {"gemma2-a", "no norm after the feed-forward", drop_in_blocks<&Block::ffn_post_norm>},
    {"gemma2-a", "norms before and after exchanged", [](Model& m) { for (Block& block : m.weights.blocks) std::swap(block.attn_norm, block.attn_post_norm); }},
    {"gemma3-a", "no norm of q", drop_in_blocks<&Block::q_norm>},
    {"gemma3-a", "no norm of k", drop_in_blocks<&Block::k_norm>},
    {"gemma3-a", "norms of q and k exchanged", [](Model& m) { for (Block& block : m.weights.blocks) std::swap(block.q_norm, block.k_norm); }},
    // activation
    {"llama-plain-a", "GELU", [](Model& m) { m.config.activation = model::Activation::gelu; }},
    {"gemma2-a", "SiLU", [](Model& m) { m.config.activation = model::Activation::silu; }},
    // biases, positions
    {"llama-bias-a", "no bias on q", drop_bias<&Block::q>},
    {"llama-bias-a", "no bias on v", drop_bias<&Block::v>},
    {"llama-bias-a", "no bias on the attention's output", drop_bias<&Block::attn_out>},
    {"llama-bias-a", "no bias on gate", drop_bias<&Block::gate>},
    {"llama-bias-a", "no bias on up", drop_bias<&Block::up>},
    {"llama-bias-a", "no bias on down", drop_bias<&Block::down>},
    {"qwen2-a", "no bias on k", drop_bias<&Block::k>},
    {"gpt2-a", "no learned positions", [](Model& m) { m.weights.position_embd = {}; }},
    // experts
    {"moe-a", "weights not renormalised", [](Model& m) { m.config.renormalise_experts = false; }},
    {"moe-a", "one expert fewer", [](Model& m) { m.config.n_experts_used -= 1; }},
    {"moe-a", "one expert more", [](Model& m) { m.config.n_experts_used += 1; }},
    {"moe-a", "two experts exchanged", [](Model& m) { for (Block& block : m.weights.blocks) std::swap(block.experts[0], block.experts[1]); }},
};

class GoldenFeatures : public testing::TestWithParam<Mutation> {};

TEST_P(GoldenFeatures, FailsWhenTheFeatureIsBroken) {
  const Mutation& mutation = GetParam();
  const auto golden = read_golden(mutation.golden);
  if (!golden) GTEST_SKIP() << mutation.golden << " is in ../shared/golden, which is not here";
  const auto intact = golden_nmse(*golden);
  ASSERT_TRUE(intact) << intact.error().message;
  EXPECT_LE(*intact, kLimit);
  const auto broken = golden_nmse(*golden, mutation.adjust);
  ASSERT_TRUE(broken) << broken.error().message;
  EXPECT_GT(*broken, kLimit * mutation.times_the_limit);
}

INSTANTIATE_TEST_SUITE_P(EachFeature, GoldenFeatures, testing::ValuesIn(kMutations), [](const auto& info) {
  std::string name = std::string(info.param.golden) + "_" + info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace layerstream::test

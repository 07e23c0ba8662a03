#pragma once
// SPDX-License-Identifier: MIT
// What a model is, in numbers and flags: everything the block needs to know besides the weights.
// Filled by a family's config reader (arch/*.cpp) and checked by check_config.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/rope.h"

namespace layerstream::model {

enum class NormKind { rms, layer };
enum class Activation { silu, gelu };  // gelu: the tanh form

// How the inverse frequencies of one kind of layer come about (arch-independent; see rope_config.h).
struct RopeSettings {
  enum class Scaling { none, linear, yarn };
  std::size_t dims = 0;  // rotated values of each head, even
  double base = 10000.0;
  Scaling scaling = Scaling::none;
  double factor = 1.0;
  double attention_factor = 1.0;         // multiplies sine and cosine
  std::uint64_t original_context = 0;    // of yarn and longrope
  bool use_divisors = true;              // rope_freqs / rope_factors tensors, where the file has them
};

struct LayerConfig {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;
  std::size_t ffn_dim = 0;
  std::uint32_t window = 0;  // visible positions, itself included; 0: all
  std::size_t rope = 0;      // index into ModelConfig::ropes
};

struct ModelConfig {
  std::string architecture;  // as the file says
  std::string family;        // as we call it
  std::string name;

  std::size_t model_dim = 0;
  std::size_t n_layers = 0;
  std::size_t head_dim = 0;
  std::size_t vocab_size = 0;  // rows of the embedding
  std::uint64_t n_ctx_train = 0;
  std::size_t n_experts = 0;   // 0: dense
  std::size_t n_experts_used = 0;
  bool renormalise_experts = true;  // the weights of the chosen experts sum to 1

  NormKind norm = NormKind::rms;
  float norm_eps = 1e-5f;
  Activation activation = Activation::silu;
  bool parallel_residual = false;   // attention and ffn both read the attention norm
  bool learned_positions = false;   // position_embd row added to the embedding
  float embedding_scale = 1.0f;
  float attention_scale = 0.0f;     // of the scores
  float attention_soft_cap = 0.0f;  // 0: off
  float final_soft_cap = 0.0f;      // 0: off

  kernels::RopePairs rope_pairs = kernels::RopePairs::adjacent;
  std::vector<RopeSettings> ropes;  // empty: no rotation
  std::vector<LayerConfig> layers;
  std::string window_origin;  // why layers have windows, for inspect: "key", "default", "recognised Mistral 7B v0.1", ""

  [[nodiscard]] std::size_t q_dim(std::size_t layer) const { return layers[layer].n_heads * head_dim; }
  [[nodiscard]] std::size_t kv_dim(std::size_t layer) const { return layers[layer].n_kv_heads * head_dim; }
};

}  // namespace layerstream::model

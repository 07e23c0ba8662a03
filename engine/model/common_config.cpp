// SPDX-License-Identifier: MIT
#include "model/common_config.h"

#include <cmath>

namespace layerstream::model {
namespace {

// Far above any real model, far below what would overflow a product of two in 64 bits.
constexpr std::uint64_t kMaxLayers = 512;
constexpr std::uint64_t kMaxWidth = 1u << 22;
constexpr std::uint64_t kMaxHeads = 1u << 14;
constexpr std::uint64_t kMaxContext = 1u << 31;
constexpr std::uint64_t kMaxExperts = 512;
constexpr double kHuge = 1e30;

std::string text(std::uint64_t value) { return std::to_string(value); }

}  // namespace

Result<void> read_sizes(const Keys& keys, ModelConfig& config) {
  config.n_layers = static_cast<std::size_t>(LS_TRY(keys.require_uint("block_count", 1, kMaxLayers)));
  config.model_dim = static_cast<std::size_t>(LS_TRY(keys.require_uint("embedding_length", 1, kMaxWidth)));
  config.n_ctx_train = LS_TRY(keys.require_uint("context_length", 1, kMaxContext));
  const auto heads = LS_TRY(keys.per_layer("attention.head_count", config.n_layers, std::nullopt, 1, kMaxHeads));
  const auto ffn = LS_TRY(keys.per_layer("feed_forward_length", config.n_layers, std::nullopt, 1, kMaxWidth));
  const bool own_kv = keys.has("attention.head_count_kv");
  const auto kv_heads = own_kv ? LS_TRY(keys.per_layer("attention.head_count_kv", config.n_layers, std::nullopt, 1, kMaxHeads)) : heads;
  config.layers.resize(config.n_layers);
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    config.layers[i].n_heads = static_cast<std::size_t>(heads[i]);
    config.layers[i].n_kv_heads = static_cast<std::size_t>(kv_heads[i]);
    config.layers[i].ffn_dim = static_cast<std::size_t>(ffn[i]);
  }
  // Without key_length the heads split the model's width (rope.dimension_count says nothing about it).
  config.head_dim = static_cast<std::size_t>(LS_TRY(keys.uint_or("attention.key_length", config.model_dim / heads[0], 1, kMaxWidth)));
  const std::uint64_t value_dim = LS_TRY(keys.uint_or("attention.value_length", config.head_dim, 1, kMaxWidth));
  if (value_dim != config.head_dim) {
    return fail(ErrorCode::bad_value, keys.full("attention.value_length") + " is " + text(value_dim) + ", but keys have " + text(config.head_dim) + "; other widths for values are not implemented");
  }
  config.n_experts = static_cast<std::size_t>(LS_TRY(keys.uint_or("expert_count", 0, 0, kMaxExperts)));
  if (config.n_experts > 0) {
    config.n_experts_used = static_cast<std::size_t>(LS_TRY(keys.require_uint("expert_used_count", 1, config.n_experts)));
    config.renormalise_experts = LS_TRY(keys.bool_or("expert_weights_norm", true));
  }
  config.attention_scale = inverse_sqrt(static_cast<double>(config.head_dim));
  return {};
}

Result<void> read_norm(const Keys& keys, NormKind kind, double fallback, ModelConfig& config) {
  config.norm = kind;
  const std::string_view key = kind == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
  constexpr double kSmallest = 1e-30;  // zero would divide by zero on an all-zero vector
  const double eps = fallback > 0 ? LS_TRY(keys.float_or(key, fallback, kSmallest, 1.0)) : LS_TRY(keys.require_float(key, kSmallest, 1.0));
  config.norm_eps = static_cast<float>(eps);
  return {};
}

Result<void> read_rope(const Keys& keys, kernels::RopePairs pairs, ModelConfig& config) {
  config.rope_pairs = pairs;
  RopeSettings rope;
  rope.dims = static_cast<std::size_t>(LS_TRY(keys.uint_or("rope.dimension_count", config.head_dim, 2, kMaxWidth)));
  rope.base = LS_TRY(keys.float_or("rope.freq_base", 10000.0, 1e-3, kHuge));
  const std::string scaling = LS_TRY(keys.string_or("rope.scaling.type", "linear"));
  rope.factor = LS_TRY(keys.float_or("rope.scaling.factor", 0.0, 0.0, kHuge));
  if (rope.factor == 0.0) rope.factor = LS_TRY(keys.float_or("rope.scale_linear", 0.0, 0.0, kHuge));
  if (rope.factor == 0.0) rope.factor = 1.0;
  if (scaling == "linear") {
    rope.scaling = RopeSettings::Scaling::linear;
  } else if (scaling == "yarn") {
    rope.scaling = RopeSettings::Scaling::yarn;
  } else if (scaling == "none" || scaling == "longrope") {  // longrope is its tensors; the string adds nothing
    rope.scaling = RopeSettings::Scaling::none;
  } else {
    return fail(ErrorCode::bad_value, keys.full("rope.scaling.type") + " is \"" + scaling + "\", expected none, linear, yarn or longrope");
  }
  rope.original_context = LS_TRY(keys.uint_or("rope.scaling.original_context_length", config.n_ctx_train, 1, kMaxContext));
  rope.attention_factor = LS_TRY(keys.float_or("rope.scaling.attn_factor", 1.0, 1e-6, 1e6));
  config.ropes = {rope};
  return {};
}

Result<void> read_window(const Keys& keys, std::uint64_t fallback, ModelConfig& config) {
  const std::uint64_t window = LS_TRY(keys.uint_or("attention.sliding_window", fallback, 0, UINT32_MAX));
  for (LayerConfig& layer : config.layers) layer.window = static_cast<std::uint32_t>(window);
  if (window > 0) config.window_origin = keys.has("attention.sliding_window") ? "key" : "default";
  return {};
}

Result<std::vector<bool>> read_window_pattern(const Keys& keys, std::uint64_t default_period, const ModelConfig& config) {
  std::vector<bool> local(config.n_layers);
  const gguf::Value* value = keys.metadata().find(keys.full("attention.sliding_window_pattern"));
  if (value != nullptr && value->type == gguf::ValueType::array) {
    const auto flags = LS_TRY(keys.per_layer("attention.sliding_window_pattern", config.n_layers, std::nullopt, 0, 1));
    for (std::size_t i = 0; i < config.n_layers; ++i) local[i] = flags[i] != 0;
    return local;
  }
  const std::uint64_t period = LS_TRY(keys.uint_or("attention.sliding_window_pattern", default_period, 0, kMaxLayers));
  for (std::size_t i = 0; i < config.n_layers; ++i) local[i] = period == 0 || i % period < period - 1;
  return local;
}

float inverse_sqrt(double value) { return static_cast<float>(1.0 / std::sqrt(value)); }

Result<void> check_config(const ModelConfig& config) {
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    const LayerConfig& layer = config.layers[i];
    if (layer.n_heads % layer.n_kv_heads != 0) {
      return fail(ErrorCode::bad_value, "block " + text(i) + " has " + text(layer.n_heads) + " query heads over " + text(layer.n_kv_heads) + " key/value heads, which does not divide");
    }
    if (!config.ropes.empty() && layer.rope >= config.ropes.size()) return fail(ErrorCode::internal, "block " + text(i) + " names an unknown rope");
  }
  if (config.head_dim == 0) return fail(ErrorCode::bad_value, "head_dim is 0: embedding_length " + text(config.model_dim) + " is smaller than head_count");
  for (const RopeSettings& rope : config.ropes) {
    if (rope.dims % 2 != 0 || rope.dims > config.head_dim || rope.dims == 0) {
      return fail(ErrorCode::bad_value, "rope.dimension_count is " + text(rope.dims) + ", expected an even number up to the head's " + text(config.head_dim));
    }
  }
  return {};
}

}  // namespace layerstream::model

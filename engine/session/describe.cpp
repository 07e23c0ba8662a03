// SPDX-License-Identifier: MIT
// What a session opened, as one JSON object (docs/formats/inspect.md).
#include <algorithm>
#include <array>
#include <map>

#include "base/json_writer.h"
#include "session/session_impl.h"

namespace layerstream {
namespace {

// Order of model::Role.
constexpr std::array<std::string_view, static_cast<std::size_t>(model::Role::count)> kRoleNames = {
    "token_embd", "position_embd", "output_norm", "output", "rope_freqs", "rope_long", "rope_short",
    "attn_norm", "q", "k", "v", "qkv", "q_norm", "k_norm", "attn_out", "attn_post_norm",
    "ffn_norm", "gate", "up", "gate_up", "down", "ffn_post_norm",
    "router", "gate_experts", "up_experts", "down_experts"};

std::string_view scaling_name(model::RopeSettings::Scaling scaling) {
  switch (scaling) {
    case model::RopeSettings::Scaling::none: return "none";
    case model::RopeSettings::Scaling::linear: return "linear";
    case model::RopeSettings::Scaling::yarn: return "yarn";
  }
  return "none";
}

void write_layers(JsonWriter& json, const model::ModelConfig& config) {
  json.key("layers").begin_array();
  for (const model::LayerConfig& layer : config.layers) {
    json.begin_object()
        .field("n_heads", layer.n_heads)
        .field("n_kv_heads", layer.n_kv_heads)
        .field("ffn_dim", layer.ffn_dim)
        .field("window", layer.window);
    if (config.ropes.empty()) {
      json.key("rope").null();
    } else {
      const model::RopeSettings& rope = config.ropes[layer.rope];
      json.key("rope").begin_object()
          .field("pairs", config.rope_pairs == kernels::RopePairs::adjacent ? "adjacent" : "half_split")
          .field("dims", rope.dims)
          .field("base", rope.base)
          .field("scaling", scaling_name(rope.scaling))
          .field("factor", rope.factor)
          .field("attention_factor", rope.attention_factor)
          .end_object();
    }
    json.end_object();
  }
  json.end_array();
}

void write_config(JsonWriter& json, const model::ModelConfig& config, std::uint32_t n_ctx) {
  json.key("config").begin_object()
      .field("model_dim", config.model_dim)
      .field("n_layers", config.n_layers)
      .field("head_dim", config.head_dim)
      .field("vocab_size", config.vocab_size)
      .field("n_ctx_train", config.n_ctx_train)
      .field("n_ctx", n_ctx)
      .field("n_experts", config.n_experts)
      .field("n_experts_used", config.n_experts_used)
      .field("renormalise_experts", config.renormalise_experts)
      .field("norm", config.norm == model::NormKind::rms ? "rms" : "layer")
      .field("norm_eps", config.norm_eps)
      .field("activation", config.activation == model::Activation::silu ? "silu" : "gelu_tanh")
      .field("parallel_residual", config.parallel_residual)
      .field("learned_positions", config.learned_positions)
      .field("embedding_scale", config.embedding_scale)
      .field("attention_scale", config.attention_scale)
      .field("attention_soft_cap", config.attention_soft_cap)
      .field("final_soft_cap", config.final_soft_cap)
      .field("window_origin", config.window_origin);
  write_layers(json, config);
  json.end_object();
}

void write_roles(JsonWriter& json, const model::Weights& weights) {
  json.key("roles").begin_object();
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (weights.found[i] > 0) json.field(kRoleNames[i], weights.found[i]);
  }
  json.end_object();
  json.field("output_is_tied", weights.output_is_tied);
  json.key("unused_tensors").begin_array();
  for (const std::string& name : weights.unused_tensors) json.value(name);
  json.end_array();
}

void write_token(JsonWriter& json, const Tokenizer& tokenizer, std::string_view name, std::optional<TokenId> id) {
  json.key(std::string(name) + "_token_id");
  id ? json.value(*id) : json.null();
  json.key(std::string(name) + "_token");
  id ? json.value(tokenizer.token_text(*id)) : json.null();
}

void write_tokenizer(JsonWriter& json, const Tokenizer& tokenizer) {
  const SpecialTokens& special = tokenizer.special();
  json.key("tokenizer").begin_object().field("kind", tokenizer.kind()).field("pre", tokenizer.pre_tokenizer()).field("pre_origin", tokenizer.pre_tokenizer_origin()).field("vocab_size", tokenizer.vocab_size());
  write_token(json, tokenizer, "bos", special.bos);
  write_token(json, tokenizer, "eos", special.eos);
  write_token(json, tokenizer, "eot", special.eot);
  write_token(json, tokenizer, "eom", special.eom);
  write_token(json, tokenizer, "unk", special.unk);
  write_token(json, tokenizer, "pad", special.pad);
  json.field("add_bos", special.add_bos).field("add_eos", special.add_eos);
  json.key("end_of_generation").begin_array();
  for (const TokenId id : special.end_of_generation) json.begin_object().field("id", id).field("text", tokenizer.token_text(id)).end_object();
  json.end_array().end_object();
}

// tokenizer.chat_template, and the named ones beside it: tokenizer.chat_template.NAME.
void write_chat_templates(JsonWriter& json, const gguf::Metadata& metadata) {
  json.key("chat_template");
  const auto chat_template = metadata.get_string("tokenizer.chat_template");
  chat_template && *chat_template ? json.value(**chat_template) : json.null();
  constexpr std::string_view kPrefix = "tokenizer.chat_template.";
  json.key("chat_templates").begin_object();
  for (const gguf::Metadata::Pair& pair : metadata.pairs()) {
    if (!pair.key.starts_with(kPrefix)) continue;
    const auto named = metadata.get_string(pair.key);
    if (named && *named) json.field(pair.key.substr(kPrefix.size()), **named);
  }
  json.end_object();
}

void write_plan(JsonWriter& json, const stream::Plan& plan, std::size_t n_units) {
  std::size_t n_pinned = 0;
  for (const bool pinned : plan.pinned) n_pinned += pinned ? 1 : 0;
  json.key("plan").begin_object();
  json.key("budget_bytes");
  plan.budget_bytes == stream::kBudgetUnlimited ? json.value("unlimited") : plan.budget_bytes == stream::kBudgetMinimum ? json.value("minimum") : json.value(plan.budget_bytes);
  json.field("total_bytes", plan.total_bytes())
      .field("smallest_bytes", plan.smallest_bytes)
      .field("fixed_bytes", plan.fixed_bytes)
      .field("kv_bytes", plan.kv_bytes)
      .field("activation_bytes", plan.activation_bytes)
      .field("sampler_bytes", plan.sampler_bytes)
      .field("pinned_bytes", plan.pinned_bytes)
      .field("n_slots", plan.n_slots)
      .field("slot_bytes", plan.slot_bytes)
      .field("n_units", n_units)
      .field("n_pinned_units", n_pinned)
      .field("weight_bytes", plan.weight_bytes)
      .field("streamed_bytes_per_pass", plan.streamed_bytes_per_pass)
      .field("read_bytes_per_token", plan.read_bytes_per_token)
      .field("max_entries", plan.max_entries)
      .field("chunk_entries", plan.chunk_entries)
      .end_object();
}

// Weight bytes that a pass with one entry computes with, by type: its share of the experts, all else.
void write_bytes_by_type(JsonWriter& json, const model::ModelConfig& config, const model::Weights& weights) {
  std::map<std::string_view, double> bytes;
  const auto add = [&](const model::Matrix& m, double share) {
    if (m) bytes[type_info(m.type).name] += share * static_cast<double>(m.rows) * static_cast<double>(m.row_bytes);
  };
  for (const model::Block& b : weights.blocks) {
    for (const model::Matrix* m : {&b.q, &b.k, &b.v, &b.attn_out, &b.gate, &b.up, &b.down, &b.router}) add(*m, 1.0);
    const double share = static_cast<double>(config.n_experts_used) / static_cast<double>(std::max<std::size_t>(1, config.n_experts));
    for (const model::Expert& expert : b.experts) {
      for (const model::Matrix* m : {&expert.gate, &expert.up, &expert.down}) add(*m, share);
    }
  }
  add(weights.output, 1.0);
  json.key("bytes_per_token_by_type").begin_object();
  for (const auto& [type, sum] : bytes) json.field(type, static_cast<std::uint64_t>(sum));
  json.end_object();
}

void write_tensors(JsonWriter& json, const gguf::ModelFile& file, const model::Weights& weights) {
  json.key("tensors").begin_array();
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    json.begin_object().field("name", tensor.name);
    json.key("role");
    const auto role = weights.tensor_roles.find(tensor.name);
    role == weights.tensor_roles.end() ? json.null() : json.value(kRoleNames[static_cast<std::size_t>(role->second)]);
    json.field("type", type_info(tensor.type).name);
    json.key("shape").begin_array();  // [out, in]; the file lists the row length first
    for (std::uint32_t i = std::max(1u, tensor.n_dims); i-- > 0;) json.value(tensor.dims[i]);
    json.end_array();
    json.field("part", tensor.part).field("offset", tensor.offset).field("bytes", tensor.bytes).end_object();
  }
  json.end_array();
}

}  // namespace

std::string SessionImpl::describe(const gguf::ModelFile& file, bool with_tensors) const {
  JsonWriter json;
  json.begin_object().field("architecture", model_.config.architecture).field("family", model_.config.family).field("name", model_.config.name);
  json.field("n_parts", file.parts().size()).field("n_tensors", file.tensors().size());
  write_config(json, model_.config, n_ctx_);
  write_roles(json, model_.weights);
  write_tokenizer(json, *tokenizer_);
  write_chat_templates(json, file.metadata());
  write_plan(json, plan_, model_.weights.units.size());
  write_bytes_by_type(json, model_.config, model_.weights);
  if (with_tensors) write_tensors(json, file, model_.weights);
  return json.end_object().take();
}

}  // namespace layerstream

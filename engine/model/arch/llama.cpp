// SPDX-License-Identifier: MIT
// Llama 1-3, Mistral, Nemo, Mixtral, TinyLlama, SmolLM: RMSNorm, GQA, SwiGLU, adjacent rope pairs; with experts, a router.
// Facts: arch "llama" is what converters write for all of them; Mistral's 4096-token window of v0.1 is in no key.
#include <array>

#include "model/arch/families.h"
#include "model/common_config.h"

namespace layerstream::model::arch {
namespace {

constexpr std::array<std::string_view, 4> kArchitectures = {"llama", "mistral", "mixtral", "nemo"};

// Mistral 7B v0.1 and its finetunes, by shape and base: v0.2 and later have base 1e6, Llamas other widths.
bool is_mistral_v01(const ModelConfig& config) {
  const LayerConfig& layer = config.layers.front();
  return config.model_dim == 4096 && config.n_layers == 32 && layer.n_heads == 32 && layer.n_kv_heads == 8 && layer.ffn_dim == 14336 &&
         config.n_experts == 0 && config.n_ctx_train == 32768 && config.vocab_size >= 32000 && config.vocab_size < 32768 &&
         config.ropes.front().base == 10000.0;
}

Result<void> read(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_norm(keys, NormKind::rms, 0, config));
  LS_CHECK(read_rope(keys, kernels::RopePairs::adjacent, config));
  LS_CHECK(read_window(keys, 0, config));
  if (!keys.has("attention.sliding_window") && is_mistral_v01(config)) {
    for (LayerConfig& layer : config.layers) layer.window = 4096;
    config.window_origin = "recognised Mistral 7B v0.1";
  }
  return {};
}

constexpr std::array kModelRoles = {
    RoleSpec{.role = Role::token_embd, .name = "token_embd", .rows = Dim::vocab},
    RoleSpec{.role = Role::output_norm, .name = "output_norm"},
    RoleSpec{.role = Role::output, .name = "output", .weight = Need::optional, .rows = Dim::vocab},
    RoleSpec{.role = Role::rope_freqs, .name = "rope_freqs", .weight = Need::optional, .columns = Dim::rope_pairs},
};

constexpr std::array kBlockRoles = {
    RoleSpec{.role = Role::attn_norm, .name = "attn_norm"},
    RoleSpec{.role = Role::q, .name = "attn_q", .weight = Need::optional, .bias = Need::optional, .rows = Dim::q},
    RoleSpec{.role = Role::k, .name = "attn_k", .weight = Need::optional, .bias = Need::optional, .rows = Dim::kv},
    RoleSpec{.role = Role::v, .name = "attn_v", .weight = Need::optional, .bias = Need::optional, .rows = Dim::kv},
    RoleSpec{.role = Role::qkv, .name = "attn_qkv", .weight = Need::optional, .bias = Need::optional, .rows = Dim::qkv},
    RoleSpec{.role = Role::attn_out, .name = "attn_output", .bias = Need::optional, .rows = Dim::model, .columns = Dim::q},
    RoleSpec{.role = Role::ffn_norm, .name = "ffn_norm"},
    RoleSpec{.role = Role::gate, .name = "ffn_gate", .weight = Need::optional, .bias = Need::optional, .rows = Dim::ffn},
    RoleSpec{.role = Role::up, .name = "ffn_up", .weight = Need::optional, .bias = Need::optional, .rows = Dim::ffn},
    RoleSpec{.role = Role::down, .name = "ffn_down", .weight = Need::optional, .bias = Need::optional, .rows = Dim::model, .columns = Dim::ffn},
    RoleSpec{.role = Role::router, .name = "ffn_gate_inp", .weight = Need::optional, .rows = Dim::experts},
    RoleSpec{.role = Role::gate_experts, .name = "ffn_gate_exps", .weight = Need::optional, .rows = Dim::ffn, .depth = Dim::experts},
    RoleSpec{.role = Role::up_experts, .name = "ffn_up_exps", .weight = Need::optional, .rows = Dim::ffn, .depth = Dim::experts},
    RoleSpec{.role = Role::down_experts, .name = "ffn_down_exps", .weight = Need::optional, .rows = Dim::model, .columns = Dim::ffn, .depth = Dim::experts},
};

}  // namespace

const Family kLlama = {.name = "llama", .architectures = kArchitectures, .read_config = read, .model_roles = kModelRoles, .block_roles = kBlockRoles};

}  // namespace layerstream::model::arch

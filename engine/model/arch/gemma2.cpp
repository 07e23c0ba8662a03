// SPDX-License-Identifier: MIT
// Gemma 2: norms before and after each half, GeGLU, soft-capped scores and logits, a window on every second layer.
// The "1 +" of Gemma's norm weights is already in the file.
#include <array>
#include <cmath>

#include "model/arch/families.h"
#include "model/common_config.h"

namespace layerstream::model::arch {
namespace {

constexpr std::array<std::string_view, 1> kArchitectures = {"gemma2"};

Result<void> read(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_norm(keys, NormKind::rms, 0, config));
  LS_CHECK(read_rope(keys, kernels::RopePairs::half_split, config));
  config.activation = Activation::gelu;
  config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.model_dim)));
  // query_pre_attn_scalar is in no key: the 27B (46 blocks) divides by the model's width per head, the others by head_dim.
  if (config.n_layers == 46) {
    config.attention_scale = inverse_sqrt(static_cast<double>(config.model_dim / config.layers[0].n_heads));
  }
  config.attention_soft_cap = static_cast<float>(LS_TRY(keys.float_or("attn_logit_softcapping", 50.0, 0.0, 1e6)));
  config.final_soft_cap = static_cast<float>(LS_TRY(keys.float_or("final_logit_softcapping", 30.0, 0.0, 1e6)));
  LS_CHECK(read_window(keys, 4096, config));
  const auto local = LS_TRY(read_window_pattern(keys, 2, config));
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    if (!local[i]) config.layers[i].window = 0;
  }
  return {};
}

constexpr std::array kModelRoles = {
    RoleSpec{.role = Role::token_embd, .name = "token_embd", .rows = Dim::vocab},
    RoleSpec{.role = Role::output_norm, .name = "output_norm"},
    RoleSpec{.role = Role::output, .name = "output", .weight = Need::optional, .rows = Dim::vocab},
};

constexpr std::array kBlockRoles = {
    RoleSpec{.role = Role::attn_norm, .name = "attn_norm"},
    RoleSpec{.role = Role::q, .name = "attn_q", .weight = Need::optional, .rows = Dim::q},
    RoleSpec{.role = Role::k, .name = "attn_k", .weight = Need::optional, .rows = Dim::kv},
    RoleSpec{.role = Role::v, .name = "attn_v", .weight = Need::optional, .rows = Dim::kv},
    RoleSpec{.role = Role::qkv, .name = "attn_qkv", .weight = Need::optional, .rows = Dim::qkv},
    RoleSpec{.role = Role::attn_out, .name = "attn_output", .rows = Dim::model, .columns = Dim::q},
    RoleSpec{.role = Role::attn_post_norm, .name = "post_attention_norm"},
    RoleSpec{.role = Role::ffn_norm, .name = "ffn_norm"},
    RoleSpec{.role = Role::gate, .name = "ffn_gate", .rows = Dim::ffn},
    RoleSpec{.role = Role::up, .name = "ffn_up", .rows = Dim::ffn},
    RoleSpec{.role = Role::down, .name = "ffn_down", .rows = Dim::model, .columns = Dim::ffn},
    RoleSpec{.role = Role::ffn_post_norm, .name = "post_ffw_norm"},
};

}  // namespace

const Family kGemma2 = {.name = "gemma2", .architectures = kArchitectures, .read_config = read, .model_roles = kModelRoles, .block_roles = kBlockRoles};

}  // namespace layerstream::model::arch

// SPDX-License-Identifier: MIT
// Gemma 3 (text): Gemma 2's block without the score cap, with RMSNorm of each query and key head; five windowed layers
// with rope base 10000 for each global one, whose base and scaling are the file's.
#include <array>
#include <cmath>

#include "model/arch/families.h"
#include "model/common_config.h"

namespace layerstream::model::arch {
namespace {

constexpr std::array<std::string_view, 1> kArchitectures = {"gemma3"};

constexpr std::size_t kGlobalRope = 0, kLocalRope = 1;

// Converters spell the bases differently.
Result<void> read_ropes(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_rope(keys, kernels::RopePairs::half_split, config));
  RopeSettings& global = config.ropes[kGlobalRope];
  global.base = LS_TRY(keys.float_or("rope.global.freq_base", global.base, 1e-3, 1e30));
  RopeSettings local;
  local.dims = global.dims;
  local.use_divisors = false;
  local.base = LS_TRY(keys.float_or("rope.local.freq_base", 10000.0, 1e-3, 1e30));
  local.base = LS_TRY(keys.float_or("rope.freq_base_swa", local.base, 1e-3, 1e30));
  config.ropes.push_back(local);
  return {};
}

Result<void> read(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_norm(keys, NormKind::rms, 1e-6, config));
  LS_CHECK(read_ropes(keys, config));
  config.activation = Activation::gelu;
  config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.model_dim)));
  // As in Gemma 2, but here the 27B has 62 blocks.
  if (config.n_layers == 62) {
    config.attention_scale = inverse_sqrt(static_cast<double>(config.model_dim / config.layers[0].n_heads));
  }
  config.final_soft_cap = static_cast<float>(LS_TRY(keys.float_or("final_logit_softcapping", 0.0, 0.0, 1e6)));
  LS_CHECK(read_window(keys, 0, config));
  const auto local = LS_TRY(read_window_pattern(keys, 6, config));
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    LayerConfig& layer = config.layers[i];
    if (!local[i]) layer.window = 0;
    layer.rope = layer.window > 0 ? kLocalRope : kGlobalRope;
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
    RoleSpec{.role = Role::q_norm, .name = "attn_q_norm", .columns = Dim::head},
    RoleSpec{.role = Role::k_norm, .name = "attn_k_norm", .columns = Dim::head},
    RoleSpec{.role = Role::attn_out, .name = "attn_output", .rows = Dim::model, .columns = Dim::q},
    RoleSpec{.role = Role::attn_post_norm, .name = "post_attention_norm"},
    RoleSpec{.role = Role::ffn_norm, .name = "ffn_norm"},
    RoleSpec{.role = Role::gate, .name = "ffn_gate", .rows = Dim::ffn},
    RoleSpec{.role = Role::up, .name = "ffn_up", .rows = Dim::ffn},
    RoleSpec{.role = Role::down, .name = "ffn_down", .rows = Dim::model, .columns = Dim::ffn},
    RoleSpec{.role = Role::ffn_post_norm, .name = "post_ffw_norm"},
};

}  // namespace

const Family kGemma3 = {.name = "gemma3", .architectures = kArchitectures, .read_config = read, .model_roles = kModelRoles, .block_roles = kBlockRoles};

}  // namespace layerstream::model::arch

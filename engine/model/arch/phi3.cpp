// SPDX-License-Identifier: MIT
// Phi-3, Phi-3.5, Phi-4, Phi-4-mini: fused qkv and gate_up, half-split rope on part of the head, LongRoPE by tensors, and
// the window the model was trained with.
#include <array>

#include "model/arch/families.h"
#include "model/common_config.h"

namespace layerstream::model::arch {
namespace {

constexpr std::array<std::string_view, 1> kArchitectures = {"phi3"};

// The window of files that lack the key, by shape (0: none).
std::uint64_t default_window(const ModelConfig& config) {
  const std::size_t layers = config.n_layers;
  if ((layers == 32 || layers == 40) && config.n_ctx_train == 4096) return 2047;
  if (layers == 32 && config.layers[0].n_kv_heads == 32 && config.n_ctx_train == 131072) return 262144;
  if (layers == 40 && config.n_ctx_train == 131072) return 131072;
  return 0;
}

Result<void> read(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_norm(keys, NormKind::rms, 0, config));
  LS_CHECK(read_rope(keys, kernels::RopePairs::half_split, config));
  return read_window(keys, default_window(config), config);
}

constexpr std::array kModelRoles = {
    RoleSpec{.role = Role::token_embd, .name = "token_embd", .rows = Dim::vocab},
    RoleSpec{.role = Role::output_norm, .name = "output_norm"},
    RoleSpec{.role = Role::output, .name = "output", .weight = Need::optional, .rows = Dim::vocab},
    RoleSpec{.role = Role::rope_freqs, .name = "rope_freqs", .weight = Need::optional, .columns = Dim::rope_pairs},
    RoleSpec{.role = Role::rope_long, .name = "rope_factors_long", .weight = Need::optional, .columns = Dim::rope_pairs},
    RoleSpec{.role = Role::rope_short, .name = "rope_factors_short", .weight = Need::optional, .columns = Dim::rope_pairs},
};

constexpr std::array kBlockRoles = {
    RoleSpec{.role = Role::attn_norm, .name = "attn_norm"},
    RoleSpec{.role = Role::q, .name = "attn_q", .weight = Need::optional, .rows = Dim::q},
    RoleSpec{.role = Role::k, .name = "attn_k", .weight = Need::optional, .rows = Dim::kv},
    RoleSpec{.role = Role::v, .name = "attn_v", .weight = Need::optional, .rows = Dim::kv},
    RoleSpec{.role = Role::qkv, .name = "attn_qkv", .weight = Need::optional, .rows = Dim::qkv},
    RoleSpec{.role = Role::attn_out, .name = "attn_output", .rows = Dim::model, .columns = Dim::q},
    RoleSpec{.role = Role::ffn_norm, .name = "ffn_norm"},
    RoleSpec{.role = Role::gate_up, .name = "ffn_up", .rows = Dim::ffn_twice},
    RoleSpec{.role = Role::down, .name = "ffn_down", .rows = Dim::model, .columns = Dim::ffn},
};

}  // namespace

const Family kPhi3 = {.name = "phi3", .architectures = kArchitectures, .read_config = read, .model_roles = kModelRoles, .block_roles = kBlockRoles};

}  // namespace layerstream::model::arch

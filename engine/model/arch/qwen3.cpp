// SPDX-License-Identifier: MIT
// Qwen3 (dense): the llama block, half-split rope pairs, RMSNorm of each query and key head before rope, no biases.
#include <array>

#include "model/arch/families.h"
#include "model/common_config.h"

namespace layerstream::model::arch {
namespace {

constexpr std::array<std::string_view, 1> kArchitectures = {"qwen3"};

Result<void> read(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_norm(keys, NormKind::rms, 0, config));
  LS_CHECK(read_rope(keys, kernels::RopePairs::half_split, config));
  return read_window(keys, 0, config);
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
    RoleSpec{.role = Role::ffn_norm, .name = "ffn_norm"},
    RoleSpec{.role = Role::gate, .name = "ffn_gate", .rows = Dim::ffn},
    RoleSpec{.role = Role::up, .name = "ffn_up", .rows = Dim::ffn},
    RoleSpec{.role = Role::down, .name = "ffn_down", .rows = Dim::model, .columns = Dim::ffn},
};

}  // namespace

const Family kQwen3 = {.name = "qwen3", .architectures = kArchitectures, .read_config = read, .model_roles = kModelRoles, .block_roles = kBlockRoles};

}  // namespace layerstream::model::arch

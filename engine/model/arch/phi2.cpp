// SPDX-License-Identifier: MIT
// Phi-1, Phi-1.5, Phi-2: attention and feed-forward side by side from one LayerNorm, rope on part of the head, biases everywhere.
#include <array>

#include "model/arch/families.h"
#include "model/common_config.h"

namespace layerstream::model::arch {
namespace {

constexpr std::array<std::string_view, 1> kArchitectures = {"phi2"};

Result<void> read(const Keys& keys, ModelConfig& config) {
  LS_CHECK(read_norm(keys, NormKind::layer, 0, config));
  LS_CHECK(read_rope(keys, kernels::RopePairs::half_split, config));
  config.activation = Activation::gelu;
  config.parallel_residual = true;
  return read_window(keys, 0, config);
}

constexpr std::array kModelRoles = {
    RoleSpec{.role = Role::token_embd, .name = "token_embd", .rows = Dim::vocab},
    RoleSpec{.role = Role::output_norm, .name = "output_norm", .bias = Need::required},
    RoleSpec{.role = Role::output, .name = "output", .bias = Need::required, .rows = Dim::vocab},
};

constexpr std::array kBlockRoles = {
    RoleSpec{.role = Role::attn_norm, .name = "attn_norm", .bias = Need::required},
    RoleSpec{.role = Role::q, .name = "attn_q", .weight = Need::optional, .bias = Need::required, .rows = Dim::q},
    RoleSpec{.role = Role::k, .name = "attn_k", .weight = Need::optional, .bias = Need::required, .rows = Dim::kv},
    RoleSpec{.role = Role::v, .name = "attn_v", .weight = Need::optional, .bias = Need::required, .rows = Dim::kv},
    RoleSpec{.role = Role::qkv, .name = "attn_qkv", .weight = Need::optional, .bias = Need::required, .rows = Dim::qkv},
    RoleSpec{.role = Role::attn_out, .name = "attn_output", .bias = Need::required, .rows = Dim::model, .columns = Dim::q},
    RoleSpec{.role = Role::up, .name = "ffn_up", .bias = Need::required, .rows = Dim::ffn},
    RoleSpec{.role = Role::down, .name = "ffn_down", .bias = Need::required, .rows = Dim::model, .columns = Dim::ffn},
};

}  // namespace

const Family kPhi2 = {.name = "phi2", .architectures = kArchitectures, .read_config = read, .model_roles = kModelRoles, .block_roles = kBlockRoles};

}  // namespace layerstream::model::arch

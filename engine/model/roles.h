#pragma once
// SPDX-License-Identifier: MIT
// The roles tensors play. A family's table says which tensor name plays which role, with which shape; optional roles
// act by being present. The block knows roles only, never names.
//
// A matrix role "attn_q" means the tensor attn_q.weight and its companions: attn_q.bias (where the family has one) and
// attn_q.scale, one factor for the matrix or for each expert (docs/formats/gguf.md). A norm role likewise has .weight and .bias.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace layerstream::model {

enum class Role : std::uint8_t {
  // once per model
  token_embd, position_embd, output_norm, output, rope_freqs, rope_long, rope_short,
  // attention
  attn_norm, q, k, v, qkv, q_norm, k_norm, attn_out, attn_post_norm,
  // feed-forward; gate_up: gate rows first, up rows after
  ffn_norm, gate, up, gate_up, down, ffn_post_norm,
  // mixture of experts
  router, gate_experts, up_experts, down_experts,
  count,
};

// A dimension in terms of the config (of the layer at hand).
enum class Dim : std::uint8_t { one, model, head, q, kv, qkv, ffn, ffn_twice, vocab, context, experts, rope_pairs };

enum class Need : std::uint8_t { required, optional, absent };

struct RoleSpec {
  Role role;
  std::string_view name;  // without ".weight"; block roles without "blk.N."
  Need weight = Need::required;
  Need bias = Need::absent;
  Dim rows = Dim::one;    // Dim::one: a vector
  Dim columns = Dim::model;
  Dim depth = Dim::one;   // Dim::experts: a merged 3-D tensor
};

}  // namespace layerstream::model

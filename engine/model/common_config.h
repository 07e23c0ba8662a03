#pragma once
// SPDX-License-Identifier: MIT
// What config readers share: keys that mean the same in every family.

#include "base/error.h"
#include "model/config.h"
#include "model/keys.h"

namespace layerstream::model {

// Sizes, heads, experts: context_length, embedding_length, block_count, head counts, feed_forward_length, key_length.
[[nodiscard]] Result<void> read_sizes(const Keys& keys, ModelConfig& config);

// Norm kind and epsilon (attention.layer_norm_rms_epsilon or attention.layer_norm_epsilon). Absent: `fallback` if > 0, else missing_key.
[[nodiscard]] Result<void> read_norm(const Keys& keys, NormKind kind, double fallback, ModelConfig& config);

// rope.* keys into one RopeSettings for all layers; `pairs` is the family's.
[[nodiscard]] Result<void> read_rope(const Keys& keys, kernels::RopePairs pairs, ModelConfig& config);

// The same window on every layer (0: none), from attention.sliding_window.
[[nodiscard]] Result<void> read_window(const Keys& keys, std::uint64_t fallback, ModelConfig& config);

// Makes layers global where the pattern says so: attention.sliding_window_pattern as a period p (local where
// l mod p < p - 1; 0: all local) or as an array with one boolean a layer (true: local). Absent: `default_period`.
[[nodiscard]] Result<std::vector<bool>> read_window_pattern(const Keys& keys, std::uint64_t default_period, const ModelConfig& config);

// 1 / sqrt(value), in double, rounded once.
[[nodiscard]] float inverse_sqrt(double value);

// Relations no single key shows: heads divide, rope dims fit, experts used <= experts, finite scales.
[[nodiscard]] Result<void> check_config(const ModelConfig& config);

}  // namespace layerstream::model

#pragma once
// SPDX-License-Identifier: MIT
// A model ready to run: config, tensors by role, ropes. Read-only during passes.

#include <cstdint>
#include <vector>

#include "model/config.h"
#include "model/rope_config.h"
#include "model/weights.h"

namespace layerstream::model {

struct Model {
  ModelConfig config;
  Weights weights;
  std::vector<Rope> ropes;  // one per config.ropes; filled by finish_ropes
};

// To be called once all fixed tensors are there: forms the inverse frequencies. n_ctx (the context allocated) chooses
// LongRoPE's long factors when it exceeds the original context, as the reference does; a choice per cache, not per token.
[[nodiscard]] Result<void> finish_ropes(std::uint64_t n_ctx, Model& model);

}  // namespace layerstream::model

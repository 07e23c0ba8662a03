// SPDX-License-Identifier: MIT
#include "model/model.h"

namespace layerstream::model {
namespace {

std::span<const float> values(const Vector& vector) { return {vector.data, vector ? vector.count : 0}; }

// rope_freqs wins over the two longrope tensors.
std::span<const float> divisors(const Weights& weights, bool long_context) {
  if (weights.rope_freqs) return values(weights.rope_freqs);
  return long_context ? values(weights.rope_long) : values(weights.rope_short);
}

}  // namespace

Result<void> finish_ropes(std::uint64_t n_ctx, Model& model) {
  model.ropes.clear();
  for (const RopeSettings& settings : model.config.ropes) {
    const std::span<const float> d = settings.use_divisors ? divisors(model.weights, n_ctx > settings.original_context) : std::span<const float>{};
    model.ropes.push_back(LS_TRY(make_rope(settings, d)));
  }
  return {};
}

}  // namespace layerstream::model

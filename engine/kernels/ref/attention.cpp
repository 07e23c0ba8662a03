// SPDX-License-Identifier: MIT
// Scalar oracle of attend: kernels/attention.h written out, one head and one position at a time.

#include <cstring>

#include "base/half.h"
#include "kernels/ref/ref.h"

namespace layerstream::kernels::ref {
namespace {

float value_at(KvType type, const std::byte* rows, std::size_t index) {
  if (type == KvType::f32) {
    float value;
    std::memcpy(&value, rows + 4 * index, sizeof value);
    return value;
  }
  std::uint16_t half;
  std::memcpy(&half, rows + 2 * index, sizeof half);
  return half_to_float(half);
}

}  // namespace

void attend(const KvHeadView& kv, const AttentionParams& params, std::uint64_t first, std::uint64_t last, const float* queries,
            float* outputs, std::size_t n_group, float* scratch) {
  const std::size_t dim = kv.head_dim;
  const std::size_t visible = static_cast<std::size_t>(last - first) + 1;
  for (std::size_t g = 0; g < n_group; ++g) {
    float max = 0.0f;
    for (std::size_t p = 0; p < visible; ++p) {
      const std::size_t row = static_cast<std::size_t>((first + p) % kv.ring_rows);
      float partial[16] = {};
      for (std::size_t d = 0; d < dim; ++d) {
        const float product = value_at(kv.type, kv.k, row * dim + d) * queries[g * dim + d];
        partial[d % 16] = partial[d % 16] + product;
      }
      float q[4];
      for (std::size_t j = 0; j < 4; ++j) q[j] = (partial[j] + partial[j + 4]) + (partial[j + 8] + partial[j + 12]);
      float score = ((q[0] + q[2]) + (q[1] + q[3])) * params.score_scale;
      if (params.soft_cap != 0.0f) score = soft_cap(params.soft_cap, score);
      scratch[p] = score;
      if (p == 0 || score > max) max = score;
    }
    float sums[4] = {};
    for (std::size_t p = 0; p < visible; ++p) {
      scratch[p] = exp_f32(scratch[p] - max);
      sums[(first + p) % 4] = sums[(first + p) % 4] + scratch[p];
    }
    const float factor = 1.0f / ((sums[0] + sums[2]) + (sums[1] + sums[3]));
    for (std::size_t d = 0; d < dim; ++d) {
      float out = 0.0f;
      for (std::size_t p = 0; p < visible; ++p) {
        const std::size_t row = static_cast<std::size_t>((first + p) % kv.ring_rows);
        out = out + scratch[p] * value_at(kv.type, kv.v, row * dim + d);
      }
      outputs[g * dim + d] = out * factor;
    }
  }
}

}  // namespace layerstream::kernels::ref

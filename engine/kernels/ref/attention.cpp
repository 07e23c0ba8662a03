// SPDX-License-Identifier: MIT
// Scalar oracle of attend: kernels/attention.h written out, one head and one position at a time.

#include <cstring>

#include "base/half.h"
#include "kernels/ref/ref.h"

namespace layerstream::kernels::ref {
namespace {

float f32_at(const std::byte* p) {
  float value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

constexpr std::size_t blocks_of(std::size_t dim) { return (dim + 31) / 32; }

int q8_at(const std::byte* row, std::size_t dim, std::size_t d) {
  return static_cast<std::int8_t>(row[4 * blocks_of(dim) + d]);
}

float value_at(const KvHeadView& kv, const std::byte* rows, std::size_t row_index, std::size_t d) {
  const std::byte* row = rows + row_index * kv_row_bytes(kv.type, kv.head_dim);
  switch (kv.type) {
    case KvType::f32:
      return f32_at(row + 4 * d);
    case KvType::f16:
      std::uint16_t half;
      std::memcpy(&half, row + 2 * d, sizeof half);
      return half_to_float(half);
    case KvType::q8:
      return f32_at(row + d / 32 * 4) * static_cast<float>(q8_at(row, kv.head_dim, d));
  }
  return 0.0f;
}

float float_dot(const KvHeadView& kv, std::size_t row, const float* query) {
  float partial[16] = {};
  for (std::size_t d = 0; d < kv.head_dim; ++d) {
    const float product = value_at(kv, kv.k, row, d) * query[d];
    partial[d % 16] = partial[d % 16] + product;
  }
  float q[4];
  for (std::size_t j = 0; j < 4; ++j) q[j] = (partial[j] + partial[j + 4]) + (partial[j + 8] + partial[j + 12]);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

float q8_dot(const KvHeadView& kv, std::size_t row_index, const float* query) {
  const std::byte* row = kv.k + row_index * kv_row_bytes(kv.type, kv.head_dim);
  float acc = 0.0f;
  for (std::size_t block = 0; block < blocks_of(kv.head_dim); ++block) {
    float values[32] = {};
    for (std::size_t i = 0; i < 32 && 32 * block + i < kv.head_dim; ++i) values[i] = query[32 * block + i];
    std::int8_t q[32];
    float scale;
    std::int32_t sums;
    quantize_activations(values, 32, q, &scale, &sums);
    int integer = 0;
    for (std::size_t i = 0; i < 32; ++i) integer += q[i] * q8_at(row, kv.head_dim, 32 * block + i);
    acc = acc + static_cast<float>(integer) * (f32_at(row + 4 * block) * scale);
  }
  return acc;
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
      const float* query = queries + g * dim;
      float score = (kv.type == KvType::q8 ? q8_dot(kv, row, query) : float_dot(kv, row, query)) * params.score_scale;
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
        out = out + scratch[p] * value_at(kv, kv.v, row, d);
      }
      outputs[g * dim + d] = out * factor;
    }
  }
}

}  // namespace layerstream::kernels::ref

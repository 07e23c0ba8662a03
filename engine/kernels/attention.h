#pragma once
// SPDX-License-Identifier: MIT
// Scaled dot-product attention of one query position and one group of heads over a KV cache.
// Two passes: scores and their maximum, then exp, sum and weighted values. In f32:
//   score[p] = score_scale * dot(q, k[p]), dot in the order of kernels/matmul.h (16 partial sums), then the soft cap;
//   w[p] = exp_f32(score[p] - max);  sum: 4 partial sums by absolute position mod 4, combined (s0+s2)+(s1+s3);
//   out[d] = (((w[first] * v[first][d]) + w[first+1] * v[first+1][d]) + ...) * (1 / sum), in ascending absolute position.
// q8 caches: dot(q, k[p]) is instead that of an integer weight row with an activation column, in the order of kernels/matmul.h:
//   one term float(I) * (scale of k * scale of q) per 32 dimensions, q quantised as activations.h says; v is scale * integer.
// So batch, window, chunk, thread, group and ring layout never change a bit.

#include <cstddef>
#include <cstdint>

namespace layerstream::kernels {

enum class KvType {
  f32,
  f16,
  q8,  // per 32 values (the last block may be shorter) an f32 scale and int8 values: activations.h
};

// Bytes of one row. q8: [n_blocks] scales, then [n_blocks, 32] values, zeros behind the last; n_blocks = head_dim / 32, rounded up.
[[nodiscard]] constexpr std::size_t kv_row_bytes(KvType type, std::size_t head_dim) {
  switch (type) {
    case KvType::f32: return 4 * head_dim;
    case KvType::f16: return 2 * head_dim;
    case KvType::q8: return (head_dim + 31) / 32 * 36;
  }
  return 0;
}

// Writes a row of head_dim floats into cache storage (f16: round to nearest even).
void kv_store(KvType type, const float* values, std::size_t head_dim, std::byte* row);
// Reads it back.
void kv_load(KvType type, const std::byte* row, std::size_t head_dim, float* out);

// K and V rows of one kv head: row of absolute position p lies at index p % ring_rows (ring_rows >= visible positions).
struct KvHeadView {
  KvType type = KvType::f32;
  const std::byte* k = nullptr;  // [ring_rows] of kv_row_bytes
  const std::byte* v = nullptr;
  std::size_t ring_rows = 0;
  std::size_t head_dim = 0;
};

struct AttentionParams {
  float score_scale = 1.0f;  // 1 / sqrt(head_dim)
  float soft_cap = 0.0f;     // 0: off; else cap * tanh(score / cap)
};

// Positions [first, last] are visible (first <= last). queries/outputs: n_group heads of head_dim that share this kv head, at stride
// head_dim. scratch: at least n_group * (last - first + 1 + 4) floats.
void attend(const KvHeadView& kv, const AttentionParams& params, std::uint64_t first, std::uint64_t last, const float* queries,
            float* outputs, std::size_t n_group, float* scratch);

}  // namespace layerstream::kernels

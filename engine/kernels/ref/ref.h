#pragma once
// SPDX-License-Identifier: MIT
// Scalar oracles of the kernels: the definitions of the public headers written out one value at a time, without SIMD and
// sharing no code with the fast paths but the polynomial coefficients. Equal to them bit for bit. ref::matmul is
// declared in kernels/matmul.h. For tests.

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/rope.h"

namespace layerstream::kernels::ref {

[[nodiscard]] float exp_f32(float x);
[[nodiscard]] float tanh_f32(float x);
[[nodiscard]] float silu(float x);
[[nodiscard]] float gelu(float x);
[[nodiscard]] float soft_cap(float cap, float x);

void rms_norm(const float* x, const float* weight, float eps, float* y, std::size_t length);
void layer_norm(const float* x, const float* weight, const float* bias, float eps, float* y, std::size_t length);
void rope_apply(RopePairs pairs, const float* cos, const float* sin, std::size_t n_pairs, float* heads, std::size_t n_heads,
                std::size_t head_dim);
void quantize_activations(const float* x, std::size_t length, std::int8_t* q, float* scales, std::int32_t* sums);
// scratch: last - first + 1 floats.
void attend(const KvHeadView& kv, const AttentionParams& params, std::uint64_t first, std::uint64_t last, const float* queries,
            float* outputs, std::size_t n_group, float* scratch);

}  // namespace layerstream::kernels::ref

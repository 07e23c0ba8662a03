// SPDX-License-Identifier: MIT
// Rotary position embedding: angles in double, rotation in f32.
//   (a, b) -> (a cos - b sin, a sin + b cos), each product rounded, then the sum.
// Shapes: heads [n_heads, head_dim], cos and sin [n_pairs]. No alignment. Memory-bound.

#include "kernels/rope.h"

#include "base/math.h"
#include "simd/simd.h"

namespace layerstream::kernels {
namespace {

using simd::f32x4;

struct Pair {
  f32x4 a;
  f32x4 b;
};

LAYERSTREAM_INLINE Pair rotate(Pair v, f32x4 cos, f32x4 sin) { return {v.a * cos - v.b * sin, v.a * sin + v.b * cos}; }

void rotate_adjacent(const float* cos, const float* sin, std::size_t n_pairs, float* head) {
  std::size_t i = 0;
  for (; i + 4 <= n_pairs; i += 4) {
    const f32x4 low = simd::load_f32(head + 2 * i);
    const f32x4 high = simd::load_f32(head + 2 * i + 4);
    const Pair turned =
        rotate({simd::even_lanes(low, high), simd::odd_lanes(low, high)}, simd::load_f32(cos + i), simd::load_f32(sin + i));
    simd::store_f32(head + 2 * i, simd::interleave_low(turned.a, turned.b));
    simd::store_f32(head + 2 * i + 4, simd::interleave_high(turned.a, turned.b));
  }
  for (; i < n_pairs; ++i) {
    const float a = head[2 * i];
    const float b = head[2 * i + 1];
    head[2 * i] = a * cos[i] - b * sin[i];
    head[2 * i + 1] = a * sin[i] + b * cos[i];
  }
}

void rotate_half_split(const float* cos, const float* sin, std::size_t n_pairs, float* head) {
  float* second = head + n_pairs;
  std::size_t i = 0;
  for (; i + 4 <= n_pairs; i += 4) {
    const Pair turned =
        rotate({simd::load_f32(head + i), simd::load_f32(second + i)}, simd::load_f32(cos + i), simd::load_f32(sin + i));
    simd::store_f32(head + i, turned.a);
    simd::store_f32(second + i, turned.b);
  }
  for (; i < n_pairs; ++i) {
    const float a = head[i];
    const float b = second[i];
    head[i] = a * cos[i] - b * sin[i];
    second[i] = a * sin[i] + b * cos[i];
  }
}

}  // namespace

void rope_table(std::uint64_t position, std::span<const double> inverse_frequencies, double magnitude, float* cos, float* sin) {
  const double at = static_cast<double>(position);
  for (std::size_t i = 0; i < inverse_frequencies.size(); ++i) {
    const math::SinCos value = math::sincos(at * inverse_frequencies[i]);
    cos[i] = static_cast<float>(value.cos * magnitude);
    sin[i] = static_cast<float>(value.sin * magnitude);
  }
}

void rope_apply(RopePairs pairs, const float* cos, const float* sin, std::size_t n_pairs, float* heads, std::size_t n_heads,
                std::size_t head_dim) {
  for (std::size_t h = 0; h < n_heads; ++h) {
    float* head = heads + h * head_dim;
    if (pairs == RopePairs::adjacent) {
      rotate_adjacent(cos, sin, n_pairs, head);
    } else {
      rotate_half_split(cos, sin, n_pairs, head);
    }
  }
}

}  // namespace layerstream::kernels

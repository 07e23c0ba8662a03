#pragma once
// SPDX-License-Identifier: MIT
// Float weights (F32, F16, BF16) times float activations, R rows by C columns at a time.
// Per (row, column) 16 partial sums in four vectors, p[i mod 16] += w[i] * x[i]; order of the final sum in matmul.h.
// Tail: the last length mod 16 values come as vectors filled up with zeros: p + 0 * 0 is p, since a sum that started at
// +0 is never -0. Alignment: none. Bound by memory for one column, by arithmetic for more.

#include <cstddef>

#include "quant/quant_traits.h"
#include "simd/simd.h"

namespace layerstream::kernels {

// q[j] = (p[j] + p[j+4]) + (p[j+8] + p[j+12]), then (q0 + q2) + (q1 + q3).
LAYERSTREAM_INLINE float reduce16(const simd::f32x4 (&p)[4]) { return simd::reduce_add((p[0] + p[1]) + (p[2] + p[3])); }

template <quant::FloatTrait Q, std::size_t R, std::size_t C>
class FloatKernel {
 public:
  // y[c * y_stride + r]. w: R rows at w_stride bytes; x: C columns at a stride of `length` floats.
  static void run(const std::byte* w, std::size_t w_stride, const float* x, std::size_t length, float* y, std::size_t y_stride) {
    simd::f32x4 sums[R][C][4] = {};
    const std::size_t whole = length / 16 * 16;
    for (std::size_t i = 0; i < whole; i += 16) {
      simd::unroll<4>([&](auto part) __attribute__((always_inline)) {
        const std::size_t at = i + 4 * part;
        simd::f32x4 weights[R];
        simd::unroll<R>([&](auto r) __attribute__((always_inline)) { weights[r] = Q::load4(w + r * w_stride, at); });
        simd::unroll<C>([&](auto c) __attribute__((always_inline)) {
          const simd::f32x4 values = simd::load_f32(x + c * length + at);
          simd::unroll<R>([&](auto r) __attribute__((always_inline)) { sums[r][c][part] += weights[r] * values; });
        });
      });
    }
    if (whole != length) add_tail(w, w_stride, x, length, whole, sums);
    simd::unroll<R * C>([&](auto i) { y[(i % C) * y_stride + i / C] = reduce16(sums[i / C][i % C]); });
  }

 private:
  static void add_tail(const std::byte* w, std::size_t w_stride, const float* x, std::size_t length, std::size_t whole,
                       simd::f32x4 (&sums)[R][C][4]) {
    for (std::size_t r = 0; r < R; ++r) {
      float weights[16] = {};
      for (std::size_t i = whole; i < length; ++i) weights[i - whole] = Q::load1(w + r * w_stride, i);
      for (std::size_t c = 0; c < C; ++c) {
        float values[16] = {};
        for (std::size_t i = whole; i < length; ++i) values[i - whole] = x[c * length + i];
        for (std::size_t part = 0; part < 4; ++part) {
          sums[r][c][part] += simd::load_f32(weights + 4 * part) * simd::load_f32(values + 4 * part);
        }
      }
    }
  }
};

}  // namespace layerstream::kernels

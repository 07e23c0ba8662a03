// SPDX-License-Identifier: MIT
// Element-wise and per-vector operations. Formulas: vector_ops.h. Whole vectors first, then one part of a vector filled
// up with zeros: lanes are independent, so a tail gives the bits a whole vector would. No alignment is asked for.
// Bound by memory, but for the exponentials.

#include "kernels/vector_ops.h"

#include <cmath>

#include "kernels/elementary.h"
#include "simd/simd.h"

namespace layerstream::kernels {
namespace {

using simd::f32x4;

// y[i] = op(i-th vectors of the inputs): op takes a loader, so that whole vectors and the tail share one text.
template <typename Op>
LAYERSTREAM_INLINE void for_each_vector(float* y, std::size_t length, Op op) {
  const std::size_t whole = length / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    simd::store_f32(y + i, op([i](const float* p) __attribute__((always_inline)) { return simd::load_f32(p + i); }));
  }
  if (const std::size_t rest = length - whole; rest != 0) {
    const f32x4 last =
        op([whole, rest](const float* p) __attribute__((always_inline)) { return simd::load_f32_part(p + whole, rest); });
    simd::store_f32_part(y + whole, last, rest);
  }
}

// Four sums in double, lane i mod 4, combined (l0 + l2) + (l1 + l3).
struct DoubleSums {
  simd::f64x2 low = {};   // lanes 0, 1
  simd::f64x2 high = {};  // lanes 2, 3
  [[nodiscard]] LAYERSTREAM_INLINE double total() const { return (low[0] + high[0]) + (low[1] + high[1]); }
};

// Sum over i of map(x[i]); a missing value of the last vector contributes `map(x) = +0`, which changes nothing.
template <typename Map>
LAYERSTREAM_INLINE double sum_in_double(const float* x, std::size_t length, Map map) {
  DoubleSums sums;
  std::size_t i = 0;
  for (; i + 4 <= length; i += 4) {
    const f32x4 v = simd::load_f32(x + i);
    sums.low += map(simd::promote_low(v));
    sums.high += map(simd::promote_high(v));
  }
  for (std::size_t lane = 0; i < length; ++i, ++lane) {
    const double term = map(simd::splat_f64(static_cast<double>(x[i])))[0];
    if (lane < 2) {
      sums.low[lane] += term;
    } else {
      sums.high[lane - 2] += term;
    }
  }
  return sums.total();
}

}  // namespace

void rms_norm(const float* x, const float* weight, float eps, float* y, std::size_t length) {
  const double squares = sum_in_double(x, length, [](simd::f64x2 v) __attribute__((always_inline)) { return v * v; });
  const double mean = squares / static_cast<double>(length);
  const f32x4 factor = simd::splat_f32(static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(eps))));
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return (load(x) * factor) * load(weight); });
}

void layer_norm(const float* x, const float* weight, const float* bias, float eps, float* y, std::size_t length) {
  const double n = static_cast<double>(length);
  const double mean = sum_in_double(x, length, [](simd::f64x2 v) __attribute__((always_inline)) { return v; }) / n;
  const simd::f64x2 means = simd::splat_f64(mean);
  const double squares =
      sum_in_double(x, length, [means](simd::f64x2 v) __attribute__((always_inline)) { return (v - means) * (v - means); });
  const f32x4 factor = simd::splat_f32(static_cast<float>(1.0 / std::sqrt(squares / n + static_cast<double>(eps))));
  const f32x4 centre = simd::splat_f32(static_cast<float>(mean));
  if (bias != nullptr) {
    for_each_vector(y, length, [&](auto load)
                                   __attribute__((always_inline)) { return ((load(x) - centre) * factor) * load(weight) + load(bias); });
  } else {
    for_each_vector(y, length,
                    [&](auto load) __attribute__((always_inline)) { return ((load(x) - centre) * factor) * load(weight); });
  }
}

void add(const float* x, float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return load(y) + load(x); });
}

void multiply(const float* x, float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return load(y) * load(x); });
}

void scale(float factor, float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return load(y) * factor; });
}

void silu_multiply(const float* gate, const float* up, float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return silu4(load(gate)) * load(up); });
}

void gelu_multiply(const float* gate, const float* up, float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return gelu4(load(gate)) * load(up); });
}

void silu(float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return silu4(load(y)); });
}

void gelu(float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return gelu4(load(y)); });
}

void soft_cap(float cap, float* y, std::size_t length) {
  const f32x4 caps = simd::splat_f32(cap);
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return soft_cap4(load(y), caps); });
}

void exp_f32(const float* x, float* y, std::size_t length) {
  for_each_vector(y, length, [&](auto load) __attribute__((always_inline)) { return exp4(load(x)); });
}

}  // namespace layerstream::kernels

#pragma once
// SPDX-License-Identifier: MIT
// Element-wise and per-vector operations of a transformer block. Each is SIMD with a defined order and has a
// scalar oracle in kernels/ref/ that is equal bit for bit. Everything is f32 but where double is named.

#include <cstddef>

namespace layerstream::kernels {

// y = (x * s) * weight, s = float(1 / sqrt(mean(x^2) + eps)). Sum of squares, mean and s in double, 4 lanes (i mod 4),
// combined (l0+l2)+(l1+l3). x == y allowed.
void rms_norm(const float* x, const float* weight, float eps, float* y, std::size_t length);
// y = ((x - float(mean)) * s) * weight + bias (bias may be nullptr), s = float(1 / sqrt(var + eps)); population variance
// around the double mean; sums as in rms_norm. x == y allowed.
void layer_norm(const float* x, const float* weight, const float* bias, float eps, float* y, std::size_t length);

void add(const float* x, float* y, std::size_t length);                  // y += x
void multiply(const float* x, float* y, std::size_t length);             // y *= x
void scale(float factor, float* y, std::size_t length);                  // y *= factor

// y = silu(gate) * up: x / (1 + e^-x), vectorised exp_f32. y may be gate or up.
void silu_multiply(const float* gate, const float* up, float* y, std::size_t length);
// y = gelu_tanh(gate) * up, gelu_tanh(x) = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), computed as
// x / (1 + e^(-2 sqrt(2/pi) (x + 0.044715 x^3))), which is the same function without cancellation.
void gelu_multiply(const float* gate, const float* up, float* y, std::size_t length);
// The same without an up projection, in place.
void silu(float* y, std::size_t length);
void gelu(float* y, std::size_t length);
// y = cap * tanh(y / cap).
void soft_cap(float cap, float* y, std::size_t length);

// e^x per element with the kernels' own f32 polynomial; relative error below 3e-7 where the result is a normal number
// (attention, SiLU); above 88.73 infinity, below -104 zero, NaN stays NaN.
// Also usable on single values: the lane result does not depend on its neighbours.
void exp_f32(const float* x, float* y, std::size_t length);

}  // namespace layerstream::kernels

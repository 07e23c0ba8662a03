// SPDX-License-Identifier: MIT
// Scalar oracle of matmul: the order of kernels/matmul.h written out, weights read by each format's scalar decoder.

#include "kernels/matmul.h"

#include "quant/registry.h"

namespace layerstream::kernels::ref {
namespace {

template <quant::FloatTrait Q>
float row_product(const std::byte* row, const Activations& x, std::size_t column) {
  float p[16] = {};
  for (std::size_t i = 0; i < x.length; ++i) {
    const float product = Q::load1(row, i) * x.f32[column * x.length + i];
    p[i % 16] = p[i % 16] + product;
  }
  float q[4];
  for (std::size_t j = 0; j < 4; ++j) q[j] = (p[j] + p[j + 4]) + (p[j + 8] + p[j + 12]);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

template <quant::IntegerTrait Q>
float row_product(const std::byte* row, const Activations& x, std::size_t column) {
  const std::size_t n_blocks = x.length / quant::kActivationBlock;
  float acc = 0.0f;
  for (std::size_t block = 0; block < n_blocks; ++block) {
    const quant::ScalarBlock weights = quant::scalar_block_at<Q>(row, block);
    const std::int8_t* q = x.q8 + column * x.length + block * quant::kActivationBlock;
    const float activation_scale = x.q8_scales[column * n_blocks + block];
    std::int64_t products = 0;  // wide sub-scales pass 32 bits
    std::int32_t minimums = 0;
    for (std::size_t i = 0; i < quant::kActivationBlock; ++i) {
      products += weights.sub_scale[i / 16] * weights.v[i] * q[i];
      minimums += weights.sub_minimum[i / 16] * q[i];
    }
    float term = static_cast<float>(products) * (weights.scale * activation_scale);
    if constexpr (Q::kHasMinimum) term = term - static_cast<float>(minimums) * (weights.minimum * activation_scale);
    acc = acc + term;
  }
  return acc;
}

}  // namespace

void matmul(const MatView& w, const Activations& x, std::size_t row_begin, std::size_t row_end, float* y, std::size_t y_stride) {
  (void)quant::with_quant(w.type, [&]<typename Q>(std::type_identity<Q>) {
    for (std::size_t c = 0; c < x.n_columns; ++c) {
      for (std::size_t r = row_begin; r < row_end; ++r) y[c * y_stride + r] = row_product<Q>(w.row(r), x, c);
    }
  });
}

}  // namespace layerstream::kernels::ref

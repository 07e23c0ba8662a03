// SPDX-License-Identifier: MIT
#include "model/block.h"

#include <algorithm>
#include <cstring>

#include "kernels/matmul.h"
#include "kernels/vector_ops.h"
#include "model/experts.h"

namespace layerstream::model {
namespace {

void normalise(const ModelConfig& config, const Norm& norm, const float* x, float* y, std::size_t length) {
  if (config.norm == NormKind::rms) {
    kernels::rms_norm(x, norm.weight.data, config.norm_eps, y, length);
  } else {
    kernels::layer_norm(x, norm.weight.data, norm.bias.data, config.norm_eps, y, length);
  }
}

// [n, model_dim] each; x and y may be the same.
void normalise_all(Script& s, const ModelConfig& config, const Norm& norm, const float* x, float* y, std::size_t n) {
  s.line(Operation::norm, n * config.model_dim, [&] {
    s.pool().parallel_for(n, 1, [&](std::size_t begin, std::size_t end, std::uint32_t) {
      for (std::size_t e = begin; e < end; ++e) normalise(config, norm, x + e * config.model_dim, y + e * config.model_dim, config.model_dim);
    });
  });
}

// QK-norm, rope, and K, V into the cache.
void rotate_and_store(const PassContext& pass, std::size_t layer, std::size_t e) {
  const ModelConfig& config = pass.model.config;
  const LayerConfig& l = config.layers[layer];
  const Block& w = pass.model.weights.blocks[layer];
  Batch& b = pass.batch;
  float* q = b.q + e * config.q_dim(layer);
  float* k = b.k + e * config.kv_dim(layer);
  const float* v = b.v + e * config.kv_dim(layer);
  if (w.q_norm) {
    for (std::size_t h = 0; h < l.n_heads; ++h) normalise(config, w.q_norm, q + h * config.head_dim, q + h * config.head_dim, config.head_dim);
  }
  if (w.k_norm) {
    for (std::size_t h = 0; h < l.n_kv_heads; ++h) normalise(config, w.k_norm, k + h * config.head_dim, k + h * config.head_dim, config.head_dim);
  }
  if (!config.ropes.empty()) {
    std::size_t table = 0;
    for (std::size_t i = 0; i < l.rope; ++i) table += config.ropes[i].dims / 2;
    const float* cos = b.cos + e * b.shape.rope_pairs + table;
    const float* sin = b.sin + e * b.shape.rope_pairs + table;
    const std::size_t pairs = config.ropes[l.rope].dims / 2;
    kernels::rope_apply(config.rope_pairs, cos, sin, pairs, q, l.n_heads, config.head_dim);
    kernels::rope_apply(config.rope_pairs, cos, sin, pairs, k, l.n_kv_heads, config.head_dim);
  }
  const std::uint64_t pos = b.positions[e];
  for (std::size_t h = 0; h < l.n_kv_heads; ++h) {
    kernels::kv_store(pass.kv_type, k + h * config.head_dim, config.head_dim, pass.kv.k_row(layer, h, pos));
    kernels::kv_store(pass.kv_type, v + h * config.head_dim, config.head_dim, pass.kv.v_row(layer, h, pos));
  }
}

// One entry, one kv head and the query heads that share it.
void attend(const PassContext& pass, std::size_t layer, std::size_t e, std::size_t kv_head, std::uint32_t thread) {
  const ModelConfig& config = pass.model.config;
  const LayerConfig& l = config.layers[layer];
  Batch& b = pass.batch;
  const std::size_t group = l.n_heads / l.n_kv_heads;
  const std::uint64_t last = b.positions[e];
  const std::uint64_t first = l.window > 0 && last + 1 > l.window ? last + 1 - l.window : 0;
  const kernels::KvHeadView head{pass.kv_type, pass.kv.k(layer, kv_head), pass.kv.v(layer, kv_head), pass.kv.shape(layer).ring_rows, config.head_dim};
  const std::size_t offset = e * config.q_dim(layer) + kv_head * group * config.head_dim;
  kernels::attend(head, {config.attention_scale, config.attention_soft_cap}, first, last, b.q + offset, b.attended + offset, group,
                  b.scratch + thread * b.shape.attention_floats);
}

std::uint64_t attention_work(const PassContext& pass, std::size_t layer) {
  std::uint64_t visible = 0;
  for (const std::uint32_t pos : pass.batch.positions) visible += pos + 1;
  return visible * 2 * pass.model.config.q_dim(layer);
}

// x += post_norm?(y)
void add_to_residual(Script& s, const ModelConfig& config, const Norm& post_norm, Batch& b) {
  if (post_norm) normalise_all(s, config, post_norm, b.y, b.y, b.n);
  s.line(Operation::residual, b.n * config.model_dim, [&] { kernels::add(b.y, b.x, b.n * config.model_dim); });
}

void embed_entry(const PassContext& pass, std::size_t e) {
  const ModelConfig& config = pass.model.config;
  const Weights& w = pass.model.weights;
  Batch& b = pass.batch;
  float* x = b.x + e * config.model_dim;
  const std::byte* row = b.rows + e * b.shape.row_bytes;
  kernels::dequantize_row(w.token_embd.type, row, x, config.model_dim);
  if (config.embedding_scale != 1.0f) kernels::scale(config.embedding_scale, x, config.model_dim);
  if (w.position_embd) {
    float* position = b.normed + e * config.model_dim;
    kernels::dequantize_row(w.position_embd.type, row + w.token_embd.row_bytes, position, config.model_dim);
    kernels::add(position, x, config.model_dim);
  }
  std::size_t table = e * b.shape.rope_pairs;
  for (const Rope& rope : pass.model.ropes) {
    kernels::rope_table(b.positions[e], rope.inverse_frequencies, rope.magnitude, b.cos + table, b.sin + table);
    table += rope.inverse_frequencies.size();
  }
}

// Logits of the wants from `first` on, as many as a chunk holds.
void project(Script& s, const PassContext& pass, std::size_t first) {
  const ModelConfig& config = pass.model.config;
  const Weights& w = pass.model.weights;
  Batch& b = pass.batch;
  const std::size_t n = std::min(b.wants.size() - first, b.chunk_entries);
  s.line(Operation::norm, n * config.model_dim, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      normalise(config, w.output_norm, b.residual + b.wants[first + i] * config.model_dim, b.normed + i * config.model_dim, config.model_dim);
    }
  });
  const Input normed = s.input(b.normed, config.model_dim, n, {&w.output});
  s.matmul(w.output, normed, b.logits_row(first));
  if (config.final_soft_cap > 0) {
    s.line(Operation::logits, n * w.output.rows, [&] { kernels::soft_cap(config.final_soft_cap, b.logits_row(first), n * w.output.rows); });
  }
}

}  // namespace

void embed(Script& s, const PassContext& pass) {
  Batch& b = pass.batch;
  s.line(Operation::embedding, b.n * pass.model.config.model_dim, [&] {
    s.pool().parallel_for(b.n, 1, [&](std::size_t begin, std::size_t end, std::uint32_t) {
      for (std::size_t e = begin; e < end; ++e) embed_entry(pass, e);
    });
  });
}

// x += post_norm?(Wo · attention(rope(qk_norm?(Wqkv · norm(x) + b?))) + b?)
// x += post_norm?(ffn(norm(x))), or both from one norm (parallel residual).
void forward_block(Script& s, const PassContext& pass, std::size_t layer) {
  const ModelConfig& config = pass.model.config;
  const LayerConfig& l = config.layers[layer];
  const Block& w = pass.model.weights.blocks[layer];
  Batch& b = pass.batch;

  normalise_all(s, config, w.attn_norm, b.x, b.normed, b.n);
  const Input normed = s.input(b.normed, config.model_dim, b.n, {&w.q, &w.k, &w.v});
  s.matmul(w.q, normed, b.q);
  s.matmul(w.k, normed, b.k);
  s.matmul(w.v, normed, b.v);
  s.line(Operation::rope, b.n * config.q_dim(layer), [&] {
    s.pool().parallel_for(b.n, 1, [&](std::size_t begin, std::size_t end, std::uint32_t) {
      for (std::size_t e = begin; e < end; ++e) rotate_and_store(pass, layer, e);
    });
  });
  s.line(Operation::attention, attention_work(pass, layer), [&] {
    s.pool().parallel_for(b.n * l.n_kv_heads, 1, [&](std::size_t begin, std::size_t end, std::uint32_t thread) {
      for (std::size_t i = begin; i < end; ++i) attend(pass, layer, i / l.n_kv_heads, i % l.n_kv_heads, thread);
    });
  });
  const Input attended = s.input(b.attended, config.q_dim(layer), b.n, {&w.attn_out});
  s.matmul(w.attn_out, attended, b.y);
  add_to_residual(s, config, w.attn_post_norm, b);

  if (!config.parallel_residual) normalise_all(s, config, w.ffn_norm, b.x, b.normed, b.n);
  if (config.n_experts > 0) {
    mixture_of_experts(s, pass, layer);
  } else {
    const Input ffn_in = s.input(b.normed, config.model_dim, b.n, {&w.gate, &w.up});
    s.gated(w.gate, w.up, config.activation, ffn_in, b.gate, b.hidden);
    const Input hidden = s.input(b.hidden, l.ffn_dim, b.n, {&w.down});
    s.matmul(w.down, hidden, b.y);
  }
  add_to_residual(s, config, w.ffn_post_norm, b);
}

void head(Script& s, const PassContext& pass) {
  const ModelConfig& config = pass.model.config;
  Batch& b = pass.batch;
  if (!b.hidden_wants.empty()) {
    s.line(Operation::norm, b.hidden_wants.size() * config.model_dim, [&] {
      for (const std::uint32_t entry : b.hidden_wants) {
        float* x = b.residual + entry * config.model_dim;
        normalise(config, pass.model.weights.output_norm, x, x, config.model_dim);
      }
    });
  }
  for (std::size_t first = 0; first < b.wants.size(); first += b.chunk_entries) project(s, pass, first);
}

}  // namespace layerstream::model

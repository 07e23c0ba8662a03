#pragma once
// SPDX-License-Identifier: MIT
// The activations of one pass: entries and every buffer the block works in. One arena, sized by the plan before
// anything runs; the token loop allocates nothing.

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/error.h"
#include "kernels/activations.h"
#include "model/config.h"
#include "model/weights.h"

namespace layerstream::model {

// The widest of each kind over all blocks; n = entries of a pass.
struct BatchShape {
  std::size_t model_dim = 0;
  std::size_t q_dim = 0;
  std::size_t kv_dim = 0;
  std::size_t ffn_dim = 0;
  std::size_t gate_rows = 0;       // rows of one slice of the gate
  std::size_t n_experts = 0;
  std::size_t n_experts_used = 0;
  std::size_t rope_pairs = 0;      // over all ropes together
  std::size_t row_bytes = 0;       // of the embedding tables, when looked up
  std::uint64_t attention_floats = 0;  // scratch of one thread
  std::size_t n_threads = 1;

  [[nodiscard]] std::size_t widest_input() const;
  [[nodiscard]] std::uint64_t bytes_per_entry() const;
  [[nodiscard]] std::uint64_t base_bytes(std::size_t vocab_size) const;  // independent of n: scratch, one row of logits
};

[[nodiscard]] BatchShape batch_shape(const ModelConfig& config, const Weights& weights, std::size_t n_ctx, std::size_t n_threads);

// int8 form of some activations.
struct Quantized {
  std::int8_t* values = nullptr;   // [n, length]
  float* scales = nullptr;         // [n, length / 32]
  std::int32_t* sums = nullptr;    // [n, length / 32]
};

class Batch {
 public:
  [[nodiscard]] static Result<Batch> create(const BatchShape& shape, std::size_t max_entries, std::size_t vocab_size);

  std::size_t n = 0;  // entries of this pass
  std::vector<std::int32_t> tokens;     // [n]
  std::vector<std::uint32_t> positions; // [n]
  std::vector<std::uint32_t> wants;     // entries that want logits, ascending
  std::vector<std::uint32_t> hidden_wants;  // entries that want their hidden state, ascending; no entry wants both

  float* x = nullptr;        // [n, model_dim] residual stream
  float* normed = nullptr;   // [n, model_dim]; after the head: rows of wants, then of hidden_wants
  float* y = nullptr;        // [n, model_dim] what a half of the block adds
  float* q = nullptr;        // [n, q_dim]
  float* k = nullptr;        // [n, kv_dim]
  float* v = nullptr;        // [n, kv_dim]
  float* attended = nullptr; // [n, q_dim]
  float* gate = nullptr;     // [n, gate_rows]
  float* hidden = nullptr;   // [n, ffn_dim]
  float* router = nullptr;   // [n, n_experts]
  float* expert_in = nullptr;   // [n, model_dim] entries gathered for one expert
  float* expert_out = nullptr;  // [n, model_dim]
  float* cos = nullptr;      // [n, rope_pairs]
  float* sin = nullptr;
  Quantized quantized;
  float* scratch = nullptr;  // [n_threads, attention_floats]
  std::byte* rows = nullptr; // [n, row_bytes] embedding rows as read
  BatchShape shape;
  std::size_t max_entries = 0;

  // Experts of each entry, ascending id, with their weights. [n, n_experts_used]
  std::vector<std::uint32_t> expert_ids;
  std::vector<float> expert_weights;
  std::vector<std::uint32_t> expert_entries;  // entries of the expert at hand

  // [wants.size(), vocab_size]; one row is in the plan, more are allocated when asked for.
  [[nodiscard]] Result<void> reserve_logits(std::size_t n_rows);
  [[nodiscard]] float* logits_row(std::size_t want) { return logits_.as<float>().data() + want * vocab_size_; }
  [[nodiscard]] const float* logits_row(std::size_t want) const { return logits_.as<float>().data() + want * vocab_size_; }
  [[nodiscard]] const float* hidden_row(std::size_t want) const { return normed + (wants.size() + want) * shape.model_dim; }
  [[nodiscard]] std::size_t vocab_size() const { return vocab_size_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return arena_.size_bytes() + logits_.size_bytes(); }

 private:
  AlignedBuffer arena_;
  AlignedBuffer logits_;
  std::size_t vocab_size_ = 0;
};

}  // namespace layerstream::model

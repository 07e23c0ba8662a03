#pragma once
// SPDX-License-Identifier: MIT
// The activations of one pass: entries and every buffer the block works in. One arena, sized by the plan before
// anything runs; the token loop allocates nothing.
//
// Between blocks an entry is its row of the residual stream; all else is needed only inside a block. So a long pass goes
// through each block in chunks of entries: rows for all of them, the other buffers for one chunk.

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/error.h"
#include "kernels/activations.h"
#include "model/config.h"
#include "model/weights.h"

namespace layerstream::model {

// The widest of each kind over all blocks.
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
  [[nodiscard]] std::uint64_t bytes_per_entry() const;        // of the pass
  [[nodiscard]] std::uint64_t bytes_per_chunk_entry() const;  // of the chunk, in addition
  [[nodiscard]] std::uint64_t base_bytes(std::size_t vocab_size) const;  // independent of both: scratch, one row of logits
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
  // max_entries: of a pass; chunk_entries: that go through a block together.
  [[nodiscard]] static Result<Batch> create(const BatchShape& shape, std::size_t max_entries, std::size_t chunk_entries, std::size_t vocab_size);

  // The pass.
  std::vector<std::int32_t> tokens;         // [entries of the pass]
  std::vector<std::uint32_t> all_positions; // [entries of the pass]
  std::vector<std::uint32_t> wants;     // entries that want logits, ascending
  std::vector<std::uint32_t> hidden_wants;  // entries that want their hidden state, ascending; no entry wants both
  float* residual = nullptr; // [entries of the pass, model_dim]; after the head the rows of hidden_wants are hidden states
  float* all_cos = nullptr;  // [entries of the pass, rope_pairs]
  float* all_sin = nullptr;
  std::byte* all_rows = nullptr;  // [entries of the pass, row_bytes] embedding rows as read

  // Puts the first chunk of the pass in place.
  void first_chunk() { select(0); }
  // Puts the next one in place, or says false and puts the first one there again.
  [[nodiscard]] bool next_chunk();

  // The chunk at hand.
  std::size_t n = 0;         // its entries
  std::span<const std::uint32_t> positions;  // [n]
  float* x = nullptr;        // [n, model_dim] its rows of the residual stream
  float* cos = nullptr;      // [n, rope_pairs]
  float* sin = nullptr;
  std::byte* rows = nullptr; // [n, row_bytes]
  float* normed = nullptr;   // [n, model_dim]
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
  Quantized quantized;
  float* scratch = nullptr;  // [n_threads, attention_floats]
  BatchShape shape;
  std::size_t chunk_entries = 0;

  // Experts of each entry, ascending id, with their weights. [n, n_experts_used]
  std::vector<std::uint32_t> expert_ids;
  std::vector<float> expert_weights;
  std::vector<std::uint32_t> expert_entries;  // entries of the expert at hand

  // [wants.size(), vocab_size]; one row is in the plan, more are allocated when asked for.
  [[nodiscard]] Result<void> reserve_logits(std::size_t n_rows);
  [[nodiscard]] float* logits_row(std::size_t want) { return logits_.as<float>().data() + want * vocab_size_; }
  [[nodiscard]] const float* logits_row(std::size_t want) const { return logits_.as<float>().data() + want * vocab_size_; }
  [[nodiscard]] const float* hidden_row(std::size_t want) const { return residual + hidden_wants[want] * shape.model_dim; }
  [[nodiscard]] std::size_t vocab_size() const { return vocab_size_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return arena_.size_bytes() + logits_.size_bytes(); }

 private:
  void select(std::size_t first);

  AlignedBuffer arena_;
  AlignedBuffer logits_;
  std::size_t vocab_size_ = 0;
  std::size_t first_ = 0;  // entry of the pass at which the chunk begins
};

}  // namespace layerstream::model

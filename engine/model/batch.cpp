// SPDX-License-Identifier: MIT
#include "model/batch.h"

#include <algorithm>

namespace layerstream::model {
namespace {

// Hands out aligned pieces of one arena; with a null base it only counts (in 64 bits: sizes may exceed the address space).
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}
  template <typename T>
  T* take(std::uint64_t count) {
    T* out = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment * AlignedBuffer::kAlignment;
    return out;
  }
  [[nodiscard]] std::uint64_t used() const { return used_; }
  void rewind(std::uint64_t to) { used_ = to; }

 private:
  std::byte* base_;
  std::uint64_t used_ = 0;
};

// The layout of a batch; attention and feed-forward buffers share memory, since their lives do not overlap.
std::uint64_t carve(Carver& carver, const BatchShape& s, std::uint64_t n_pass, std::uint64_t n, Batch* out) {
  Batch ignored;
  Batch& b = out == nullptr ? ignored : *out;
  b.residual = carver.take<float>(n_pass * s.model_dim);
  b.all_cos = carver.take<float>(n_pass * s.rope_pairs);
  b.all_sin = carver.take<float>(n_pass * s.rope_pairs);
  b.all_rows = carver.take<std::byte>(n_pass * s.row_bytes);
  b.normed = carver.take<float>(n * s.model_dim);
  b.y = carver.take<float>(n * s.model_dim);
  const std::size_t widest = s.widest_input();
  b.quantized.values = carver.take<std::int8_t>(n * widest);
  b.quantized.scales = carver.take<float>(n * ((widest + 31) / 32));
  b.quantized.sums = carver.take<std::int32_t>(n * ((widest + 31) / 32));
  b.scratch = carver.take<float>(s.n_threads * s.attention_floats);
  const std::uint64_t shared = carver.used();
  b.q = carver.take<float>(n * s.q_dim);
  b.k = carver.take<float>(n * s.kv_dim);
  b.v = carver.take<float>(n * s.kv_dim);
  b.attended = carver.take<float>(n * s.q_dim);
  const std::uint64_t attention_end = carver.used();
  carver.rewind(shared);
  b.gate = carver.take<float>(n * s.gate_rows);
  b.hidden = carver.take<float>(n * s.ffn_dim);
  b.router = carver.take<float>(n * s.n_experts);
  if (s.n_experts > 0) {
    b.expert_in = carver.take<float>(n * s.model_dim);
    b.expert_out = carver.take<float>(n * s.model_dim);
  }
  return std::max(attention_end, carver.used());
}

std::uint64_t arena_bytes(const BatchShape& shape, std::size_t n_pass, std::size_t n_chunk) {
  Carver counter(nullptr);
  return carve(counter, shape, n_pass, n_chunk, nullptr);
}

}  // namespace

std::size_t BatchShape::widest_input() const { return std::max({model_dim, q_dim, ffn_dim}); }

// The lists beside the arena (ids, positions, experts) count with it. The 16 covers what alignment moves around.
std::uint64_t BatchShape::bytes_per_entry() const {
  constexpr std::uint64_t kLists = 4 * sizeof(std::uint32_t);
  return (arena_bytes(*this, 128, 0) - arena_bytes(*this, 64, 0)) / 64 + 16 + kLists;
}

std::uint64_t BatchShape::bytes_per_chunk_entry() const {
  const std::uint64_t lists = sizeof(std::uint32_t) + n_experts_used * (sizeof(std::uint32_t) + sizeof(float));
  return (arena_bytes(*this, 0, 128) - arena_bytes(*this, 0, 64)) / 64 + 16 + lists;
}

std::uint64_t BatchShape::base_bytes(std::size_t vocab_size) const {
  constexpr std::uint64_t kPieces = 20;  // each may lose up to an alignment
  return arena_bytes(*this, 0, 0) + vocab_size * sizeof(float) + kPieces * AlignedBuffer::kAlignment;
}

BatchShape batch_shape(const ModelConfig& config, const Weights& weights, std::size_t n_ctx, std::size_t n_threads) {
  BatchShape shape;
  shape.model_dim = config.model_dim;
  shape.n_experts = config.n_experts;
  shape.n_experts_used = config.n_experts_used;
  shape.n_threads = n_threads;
  std::size_t group = 1;
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    const LayerConfig& layer = config.layers[i];
    const Block& block = weights.blocks[i];
    shape.q_dim = std::max(shape.q_dim, config.q_dim(i));
    shape.kv_dim = std::max(shape.kv_dim, config.kv_dim(i));
    shape.ffn_dim = std::max(shape.ffn_dim, layer.ffn_dim);
    shape.gate_rows = std::max(shape.gate_rows, block.gate.rows_per_unit);
    for (const Expert& expert : block.experts) shape.gate_rows = std::max(shape.gate_rows, expert.gate.rows_per_unit);
    group = std::max(group, layer.n_heads / layer.n_kv_heads);
  }
  for (const RopeSettings& rope : config.ropes) shape.rope_pairs += rope.dims / 2;
  shape.row_bytes = weights.token_embd.row_bytes + weights.position_embd.row_bytes;
  shape.attention_floats = (std::uint64_t{group} * (n_ctx + 8) + 15) / 16 * 16;
  return shape;
}

Result<Batch> Batch::create(const BatchShape& shape, std::size_t max_entries, std::size_t chunk_entries, std::size_t vocab_size) {
  Batch batch;
  batch.shape = shape;
  batch.chunk_entries = chunk_entries;
  batch.vocab_size_ = vocab_size;
  batch.arena_ = LS_TRY(AlignedBuffer::create(arena_bytes(shape, max_entries, chunk_entries)));
  Carver carver(batch.arena_.data());
  carve(carver, shape, max_entries, chunk_entries, &batch);
  batch.tokens.reserve(max_entries);
  batch.all_positions.reserve(max_entries);
  batch.wants.reserve(max_entries);
  batch.hidden_wants.reserve(max_entries);
  batch.expert_ids.resize(chunk_entries * shape.n_experts_used);
  batch.expert_weights.resize(chunk_entries * shape.n_experts_used);
  batch.expert_entries.reserve(shape.n_experts > 0 ? chunk_entries : 0);
  LS_CHECK(batch.reserve_logits(1));
  return batch;
}

void Batch::select(std::size_t first) {
  first_ = first;
  n = std::min(chunk_entries, tokens.size() - first);
  positions = std::span(all_positions).subspan(first, n);
  x = residual + first * shape.model_dim;
  cos = all_cos + first * shape.rope_pairs;
  sin = all_sin + first * shape.rope_pairs;
  rows = all_rows + first * shape.row_bytes;
}

bool Batch::next_chunk() {
  const bool has_more = first_ + n < tokens.size();
  select(has_more ? first_ + n : 0);
  return has_more;
}

Result<void> Batch::reserve_logits(std::size_t n_rows) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(n_rows) * vocab_size_ * sizeof(float);
  if (bytes <= logits_.size_bytes()) return {};
  logits_ = AlignedBuffer();  // the old rows are not needed: give them back first
  logits_ = LS_TRY(AlignedBuffer::create(bytes));
  return {};
}

}  // namespace layerstream::model

#pragma once
// SPDX-License-Identifier: MIT
// A model's tensors by role: which are always resident (norms, biases, tables), which are matrices in units, which are
// looked up row by row. Built from the header alone; no weight bytes are needed for it.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/mat_view.h"
#include "gguf/model_file.h"
#include "model/config.h"
#include "model/family.h"
#include "stream/units.h"

namespace layerstream::model {

// Small tensors that are always in memory, as f32. Vectors are views into one arena that exists from bind() on, and
// hold numbers once their reads have completed.
class FixedTensors {
 public:
  struct Item {
    std::string name;
    std::uint32_t part = 0;
    std::uint64_t offset = 0;
    QuantType type = QuantType::f32;
    std::size_t count = 0;
    std::size_t arena_offset = 0;  // in floats
  };

  std::size_t add(const gguf::TensorInfo& tensor);  // index of the item
  [[nodiscard]] Result<void> allocate();
  [[nodiscard]] std::span<const Item> items() const { return items_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return arena_floats_ * sizeof(float); }
  [[nodiscard]] std::span<float> values(std::size_t index);

  // Reads in order; nullopt when all are there or in flight.
  [[nodiscard]] std::optional<std::size_t> next_read();
  // Where the raw bytes of an item go: the end of its place, so that 16-bit types widen in place.
  [[nodiscard]] std::span<std::byte> destination(std::size_t index);
  void complete(std::size_t index);
  void fail_read(std::size_t index);
  [[nodiscard]] bool all_there() const { return n_there_ == items_.size(); }
  [[nodiscard]] bool in_flight(std::size_t index) const { return index < state_.size() && state_[index] == State::in_flight; }

 private:
  enum class State : std::uint8_t { absent, in_flight, there };
  std::vector<Item> items_;
  std::vector<State> state_;
  AlignedBuffer arena_;
  std::size_t arena_floats_ = 0;
  std::size_t n_there_ = 0;
};

// A vector that may be missing: norm weights, biases, scales. Index into FixedTensors until resolved.
struct Vector {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::size_t item = kNone;
  const float* data = nullptr;  // set by resolve; nullptr: absent
  std::size_t count = 0;
  [[nodiscard]] explicit operator bool() const { return item != kNone; }
};

struct Norm {
  Vector weight, bias;
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(weight); }
};

// [rows, columns] in n_units slices of rows_per_unit rows (the last may be shorter); unit u has id first_unit + u * unit_stride.
struct Matrix {
  QuantType type = QuantType::f32;
  std::size_t rows = 0;  // 0: absent
  std::size_t columns = 0;
  std::size_t row_bytes = 0;
  std::uint32_t part = 0;
  std::uint64_t offset = 0;
  std::size_t rows_per_unit = 0;
  std::uint32_t n_units = 0;
  stream::UnitId first_unit = 0;
  std::uint32_t unit_stride = 1;
  Vector bias;               // [rows] (bias_offset on)
  std::size_t bias_offset = 0;
  Vector scale;              // scale[scale_index] multiplies the product, before the bias
  std::size_t scale_index = 0;

  [[nodiscard]] explicit operator bool() const { return rows != 0; }
  [[nodiscard]] std::size_t unit_rows(std::uint32_t unit) const { return std::min(rows_per_unit, rows - unit * rows_per_unit); }
  [[nodiscard]] const float* bias_data() const { return bias ? bias.data + bias_offset : nullptr; }
  [[nodiscard]] float scale_value() const { return scale ? scale.data[scale_index] : 1.0f; }
};

// A table looked up by row, on demand: [rows, columns].
struct RowTable {
  QuantType type = QuantType::f32;
  std::size_t rows = 0;  // 0: absent
  std::size_t columns = 0;
  std::size_t row_bytes = 0;
  std::uint32_t part = 0;
  std::uint64_t offset = 0;
  [[nodiscard]] explicit operator bool() const { return rows != 0; }
};

struct Expert {
  Matrix gate, up, down;
};

struct Block {
  Norm attn_norm, q_norm, k_norm, attn_post_norm, ffn_norm, ffn_post_norm;
  Matrix q, k, v, attn_out;
  Matrix gate, up, down;        // dense
  Matrix router;                // experts
  std::vector<Expert> experts;
};

struct Weights {
  FixedTensors fixed;
  std::vector<stream::Unit> units;  // in execution order
  RowTable token_embd, position_embd;
  Norm output_norm;
  Matrix output;           // tied: the rows of token_embd
  bool output_is_tied = false;
  Vector rope_freqs, rope_long, rope_short;
  std::vector<Block> blocks;
  std::vector<std::string> unused_tensors;
  std::map<std::string, Role, std::less<>> tensor_roles;  // by tensor name; for inspect
  // Role -> in how many blocks (or 1 for model roles) the weight was found; for inspect.
  std::array<std::uint32_t, static_cast<std::size_t>(Role::count)> found{};
};

// Checks every tensor of every role against the config (missing_tensor, shape_mismatch, unsupported_quant) and slices
// matrices into units of about unit_bytes.
[[nodiscard]] Result<Weights> bind(const gguf::ModelFile& file, const Family& family, const ModelConfig& config, std::uint64_t unit_bytes);

}  // namespace layerstream::model

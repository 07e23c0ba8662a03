#pragma once
// SPDX-License-Identifier: MIT
// Keys and values of past positions, per layer. K is stored after rope. A layer with a sliding window keeps only as
// many rows as one pass can need; the row of position p is p % ring_rows.
//
// Layout per layer: K [n_kv_heads, ring_rows] of rows, then V the same. What a row holds is not the cache's affair.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/error.h"

namespace layerstream::runtime {

struct KvLayerShape {
  std::size_t n_kv_heads = 0;
  std::size_t row_bytes = 0;  // of one position and head
  std::size_t ring_rows = 0;
  std::uint32_t window = 0;  // visible positions, itself included; 0: all
};

class KvCache {
 public:
  [[nodiscard]] static Result<KvCache> create(std::vector<KvLayerShape> layers);
  [[nodiscard]] static std::uint64_t bytes_needed(std::span<const KvLayerShape> layers);

  [[nodiscard]] const KvLayerShape& shape(std::size_t layer) const { return layers_[layer]; }
  [[nodiscard]] std::uint64_t size_bytes() const { return memory_.size_bytes(); }

  // The rows of one head.
  [[nodiscard]] std::byte* k(std::size_t layer, std::size_t kv_head);
  [[nodiscard]] std::byte* v(std::size_t layer, std::size_t kv_head);
  [[nodiscard]] const std::byte* k(std::size_t layer, std::size_t kv_head) const;
  [[nodiscard]] const std::byte* v(std::size_t layer, std::size_t kv_head) const;
  // The row of one position.
  [[nodiscard]] std::byte* k_row(std::size_t layer, std::size_t kv_head, std::uint64_t pos);
  [[nodiscard]] std::byte* v_row(std::size_t layer, std::size_t kv_head, std::uint64_t pos);

  // Whether, after positions [0, n_past) were written, a pass may go on from `from`: no row it can see was overwritten.
  [[nodiscard]] bool can_resume_at(std::uint64_t from, std::uint64_t n_past) const;

  // One layer of dump(n_past), and the way back into a cache of the same shapes (ring rows may differ); bad_argument for other
  // lengths. Windowed layers then hold their window alone. By layers, since a second copy of a cache has no place in a budget.
  [[nodiscard]] std::vector<std::byte> dump_layer(std::size_t layer, std::uint64_t n_past) const;
  [[nodiscard]] Result<void> restore_layer(std::size_t layer, std::span<const std::byte> dumped, std::uint64_t n_past);

  // Logical order: per layer K then V, ascending position, the rows of all heads at each; the last min(n_past, window) rows.
  [[nodiscard]] std::vector<std::byte> dump(std::uint64_t n_past) const;

  // Everything is forgotten: rows are written from position 0 on again.
  void clear() { restored_past_ = 0; }

 private:
  template <typename Visit>
  void each_dumped_row(std::size_t layer, std::uint64_t n_past, Visit visit) const;
  [[nodiscard]] std::uint64_t dumped_bytes(std::size_t layer, std::uint64_t n_past) const;

  std::vector<KvLayerShape> layers_;
  std::vector<std::uint64_t> offsets_;  // of each layer's K in memory_
  std::uint64_t restored_past_ = 0;  // n_past of restore_layer()
  AlignedBuffer memory_;
};

}  // namespace layerstream::runtime

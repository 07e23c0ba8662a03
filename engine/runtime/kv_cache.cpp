// SPDX-License-Identifier: MIT
#include "runtime/kv_cache.h"

#include <algorithm>
#include <cstring>

namespace layerstream::runtime {
namespace {

std::uint64_t head_bytes(const KvLayerShape& shape) {
  return static_cast<std::uint64_t>(shape.ring_rows) * shape.row_bytes;
}

std::uint64_t layer_bytes(const KvLayerShape& shape) {
  return 2 * shape.n_kv_heads * head_bytes(shape);
}

}  // namespace

std::uint64_t KvCache::bytes_needed(std::span<const KvLayerShape> layers) {
  std::uint64_t total = 0;
  for (const KvLayerShape& shape : layers) total += layer_bytes(shape);
  return total;
}

Result<KvCache> KvCache::create(std::vector<KvLayerShape> layers) {
  KvCache cache;
  std::uint64_t offset = 0;
  for (const KvLayerShape& shape : layers) {
    cache.offsets_.push_back(offset);
    offset += layer_bytes(shape);
  }
  cache.memory_ = LS_TRY(AlignedBuffer::create(offset));
  cache.layers_ = std::move(layers);
  return cache;
}

const std::byte* KvCache::k(std::size_t layer, std::size_t kv_head) const {
  return memory_.data() + offsets_[layer] + kv_head * head_bytes(layers_[layer]);
}

const std::byte* KvCache::v(std::size_t layer, std::size_t kv_head) const {
  return k(layer, layers_[layer].n_kv_heads + kv_head);
}

std::byte* KvCache::k(std::size_t layer, std::size_t kv_head) {
  return const_cast<std::byte*>(std::as_const(*this).k(layer, kv_head));
}

std::byte* KvCache::v(std::size_t layer, std::size_t kv_head) {
  return const_cast<std::byte*>(std::as_const(*this).v(layer, kv_head));
}

std::byte* KvCache::k_row(std::size_t layer, std::size_t kv_head, std::uint64_t pos) {
  const KvLayerShape& shape = layers_[layer];
  return k(layer, kv_head) + pos % shape.ring_rows * shape.row_bytes;
}

std::byte* KvCache::v_row(std::size_t layer, std::size_t kv_head, std::uint64_t pos) {
  const KvLayerShape& shape = layers_[layer];
  return v(layer, kv_head) + pos % shape.ring_rows * shape.row_bytes;
}

bool KvCache::can_resume_at(std::uint64_t from, std::uint64_t n_past) const {
  return std::all_of(layers_.begin(), layers_.end(), [&](const KvLayerShape& shape) {
    if (shape.window == 0) return true;
    const auto since = [](std::uint64_t end, std::uint64_t rows) { return end > rows ? end - rows : 0; };
    const std::uint64_t oldest_kept = std::max(since(n_past, shape.ring_rows), since(restored_past_, shape.window));
    const std::uint64_t oldest_seen = from + 1 > shape.window ? from + 1 - shape.window : 0;
    return oldest_seen >= oldest_kept;
  });
}

// Visits a layer's rows in the order of a dump.
template <typename Visit>
void KvCache::each_dumped_row(std::size_t layer, std::uint64_t n_past, Visit visit) const {
  const KvLayerShape& shape = layers_[layer];
  const std::uint64_t rows = shape.window == 0 ? n_past : std::min<std::uint64_t>(n_past, shape.window);
  for (const std::size_t first_head : {std::size_t{0}, shape.n_kv_heads}) {
    for (std::uint64_t pos = n_past - rows; pos < n_past; ++pos) {
      for (std::size_t head = 0; head < shape.n_kv_heads; ++head) {
        visit(k(layer, first_head + head) + pos % shape.ring_rows * shape.row_bytes, shape.row_bytes);
      }
    }
  }
}

std::uint64_t KvCache::dumped_bytes(std::size_t layer, std::uint64_t n_past) const {
  std::uint64_t total = 0;
  each_dumped_row(layer, n_past, [&](const std::byte*, std::size_t bytes) { total += bytes; });
  return total;
}

std::vector<std::byte> KvCache::dump_layer(std::size_t layer, std::uint64_t n_past) const {
  std::vector<std::byte> out;
  out.reserve(static_cast<std::size_t>(dumped_bytes(layer, n_past)));
  each_dumped_row(layer, n_past, [&](const std::byte* row, std::size_t bytes) { out.insert(out.end(), row, row + bytes); });
  return out;
}

std::vector<std::byte> KvCache::dump(std::uint64_t n_past) const {
  std::vector<std::byte> out;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const std::vector<std::byte> one = dump_layer(layer, n_past);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

Result<void> KvCache::restore_layer(std::size_t layer, std::span<const std::byte> dumped, std::uint64_t n_past) {
  if (layer >= layers_.size() || dumped_bytes(layer, n_past) != dumped.size()) {
    return fail(ErrorCode::bad_argument, std::to_string(dumped.size()) + " bytes are not " + std::to_string(n_past) + " positions of layer " + std::to_string(layer));
  }
  const std::byte* at = dumped.data();
  each_dumped_row(layer, n_past, [&](const std::byte* row, std::size_t bytes) {
    std::memcpy(const_cast<std::byte*>(row), at, bytes);  // a row of this cache, which is ours to change
    at += bytes;
  });
  restored_past_ = n_past;
  return {};
}

}  // namespace layerstream::runtime

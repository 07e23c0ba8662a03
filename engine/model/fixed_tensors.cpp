// SPDX-License-Identifier: MIT
#include <algorithm>

#include "kernels/matmul.h"
#include "model/weights.h"

namespace layerstream::model {

std::size_t FixedTensors::add(const gguf::TensorInfo& tensor) {
  const std::size_t count = static_cast<std::size_t>(tensor.dims[0] * tensor.dims[1] * tensor.dims[2] * tensor.dims[3]);
  items_.push_back(Item{std::string(tensor.name), tensor.part, tensor.offset, tensor.type, count, arena_floats_});
  state_.push_back(State::absent);
  arena_floats_ += (count + 15) / 16 * 16;  // each begins at a cache line
  return items_.size() - 1;
}

Result<void> FixedTensors::allocate() {
  arena_ = LS_TRY(AlignedBuffer::create(size_bytes()));
  return {};
}

std::span<float> FixedTensors::values(std::size_t index) {
  return arena_.as<float>().subspan(items_[index].arena_offset, items_[index].count);
}

std::optional<std::size_t> FixedTensors::next_read() {
  const auto it = std::find(state_.begin(), state_.end(), State::absent);
  if (it == state_.end()) return std::nullopt;
  *it = State::in_flight;
  return static_cast<std::size_t>(it - state_.begin());
}

std::span<std::byte> FixedTensors::destination(std::size_t index) {
  const auto bytes = std::as_writable_bytes(values(index));
  return bytes.last(static_cast<std::size_t>(row_bytes(items_[index].type, items_[index].count)));
}

void FixedTensors::complete(std::size_t index) {
  // Widening runs upwards: value i is written at 4i, read from 2(count + i) or later.
  const std::byte* raw = destination(index).data();
  const std::size_t bytes_each = type_info(items_[index].type).block_bytes;
  float* out = values(index).data();
  if (items_[index].type != QuantType::f32) {
    for (std::size_t i = 0; i < items_[index].count; ++i) kernels::dequantize_row(items_[index].type, raw + i * bytes_each, out + i, 1);
  }
  state_[index] = State::there;
  ++n_there_;
}

void FixedTensors::fail_read(std::size_t index) { state_[index] = State::absent; }

}  // namespace layerstream::model

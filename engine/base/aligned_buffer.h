#pragma once
// SPDX-License-Identifier: MIT
// Owner of one large block of memory, 64-byte aligned. Allocation can fail and says so; it never throws.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

namespace layerstream {

class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer() { std::free(data_); }

  // Contents are not initialised.
  [[nodiscard]] static Result<AlignedBuffer> create(std::uint64_t bytes) {
    AlignedBuffer buffer;
    if (bytes == 0) return buffer;
    const std::uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded >= bytes && rounded <= static_cast<std::uint64_t>(PTRDIFF_MAX)) {
      buffer.data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<std::size_t>(rounded)));
    }
    if (buffer.data_ == nullptr) return fail(ErrorCode::out_of_memory, "could not allocate " + std::to_string(bytes) + " bytes");
    buffer.bytes_ = static_cast<std::size_t>(bytes);
    return buffer;
  }

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> bytes() { return {data_, bytes_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, bytes_}; }

  // The buffer as an array of T. `size_bytes()` must be a multiple of sizeof(T).
  template <typename T>
  [[nodiscard]] std::span<T> as() {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }
  template <typename T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace layerstream

#pragma once
// SPDX-License-Identifier: MIT
// Weights that meet few columns are needed as fast as memory brings them, and the rows of a group are several streams, which
// processors foresee badly: each is short, or crosses into new pages all the time. WebAssembly has no prefetch instruction, so one
// byte of every cache line is loaded early. Out of memory this is worth 1.3 to 2 times the rate; out of the cache it costs
// up to a tenth. Orders and distances were measured, in V8 and natively (Zen 3, Zen 5; rows of 2048 to 8192 values).

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd/simd.h"

namespace layerstream::kernels {

// One byte of each of so many cache lines.
template <std::size_t Bytes>
LAYERSTREAM_INLINE std::uint32_t touched(const std::byte* at) {
  constexpr std::size_t kLine = 64;
  std::uint32_t sum = 0;
  simd::unroll<(Bytes + kLine - 1) / kLine>([&](auto line) __attribute__((always_inline)) { sum += static_cast<std::uint32_t>(at[kLine * line]); });
  return sum;
}

// Ahead of a product that goes through R rows in step. Short rows are loaded in the order of memory; of long ones each a little
// ahead of where the product is, and at its end the row that takes its place in the next group. A load that misses holds up
// what comes after it, so the loads of a step lie apart, each before the work on its row.
template <std::size_t R>
class ReadAhead {
 public:
  // How far: long enough for a miss, short enough for the first-level cache.
  static constexpr std::size_t kDistance = 4096;
  static constexpr std::size_t kDistanceInRow = 1024;
  // Rows that are no longer than this together are short.
  static constexpr std::size_t kShortRows = 11 << 9;

  // R rows from `rows` on; what is to be multiplied ends at `end`.
  LAYERSTREAM_INLINE ReadAhead(const std::byte* rows, std::size_t row_bytes, const std::byte* end)
      : at_(rows), row_bytes_(row_bytes), in_memory_order_(R == 1 || R * row_bytes <= kShortRows) {
    const std::size_t left = static_cast<std::size_t>(end - rows);
    // Where nothing is ahead any more, what is at hand is loaded.
    distance_ = in_memory_order_ ? (left >= R * row_bytes + kDistance ? kDistance : 0) : std::min(row_bytes, kDistanceInRow);
    turn_ = rows + row_bytes - distance_;
    beyond_ = left >= 2 * R * row_bytes ? distance_ + (R - 1) * row_bytes : 0;
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  LAYERSTREAM_INLINE ~ReadAhead() { asm volatile("" ::"r"(sum_)); }  // else no load would be needed

  // The product goes on to the next Bytes of each row.
  template <std::size_t Bytes>
  LAYERSTREAM_INLINE void step() {
    if (in_memory_order_) {
      ahead_ = at_ + distance_;
      stride_ = Bytes;
      at_ += R * Bytes;
    } else {
      ahead_ = at_ + (at_ + Bytes <= turn_ ? distance_ : beyond_);
      stride_ = row_bytes_;
      at_ += Bytes;
    }
  }
  // The part of the step that goes with one row.
  template <std::size_t Bytes>
  LAYERSTREAM_INLINE void touch(std::size_t row) {
    sum_ += touched<Bytes>(ahead_ + row * stride_);
  }

 private:
  const std::byte* at_;
  std::size_t row_bytes_;
  bool in_memory_order_;
  std::size_t distance_;
  const std::byte* turn_;  // from here on the next group's row is ahead
  std::size_t beyond_;     // its distance
  const std::byte* ahead_ = nullptr;
  std::size_t stride_ = 0;
  std::uint32_t sum_ = 0;
};

// Loads memory from `at` on in order, beside something that goes through other memory: what is packed next, while panels are.
class LoadInOrder {
 public:
  explicit LAYERSTREAM_INLINE LoadInOrder(const std::byte* at) : at_(at) {}
  LoadInOrder(const LoadInOrder&) = delete;
  LoadInOrder& operator=(const LoadInOrder&) = delete;
  LAYERSTREAM_INLINE ~LoadInOrder() { asm volatile("" ::"r"(sum_)); }

  template <std::size_t Bytes>
  LAYERSTREAM_INLINE void next() {
    sum_ += touched<Bytes>(at_);
    at_ += Bytes;
  }

 private:
  const std::byte* at_;
  std::uint32_t sum_ = 0;
};

}  // namespace layerstream::kernels

#pragma once
// SPDX-License-Identifier: MIT
// Units: what is read, kept and released as a whole. Bytes only; what they mean is engine/model's business.

#include <cstdint>
#include <span>

namespace layerstream::stream {

// Index into the unit table, which is in execution order: a pass uses units in ascending id.
using UnitId = std::uint32_t;

struct Unit {
  std::uint64_t offset = 0;  // absolute in its file
  std::uint64_t bytes = 0;
  std::uint32_t part = 0;    // file of a split model
  std::uint32_t stage = 0;   // 1 .. n_layers: blocks; n_layers + 1: head
  // Used only by some passes (an expert): never prefetched into a slot, only read when a pass asks.
  bool conditional = false;
};

// Memory a unit takes: units start at cache lines, since loads that straddle lines cost.
inline constexpr std::uint64_t kUnitAlignment = 64;
[[nodiscard]] constexpr std::uint64_t padded_bytes(std::uint64_t bytes) {
  return (bytes + kUnitAlignment - 1) / kUnitAlignment * kUnitAlignment;
}

struct UnitRead {
  UnitId unit = 0;
  std::span<std::byte> into;
  bool urgent = false;
};

}  // namespace layerstream::stream

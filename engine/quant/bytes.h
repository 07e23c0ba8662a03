#pragma once
// SPDX-License-Identifier: MIT
// Little-endian reads from packed rows, which promise no alignment.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/half.h"

namespace layerstream::quant {

[[nodiscard]] inline std::uint8_t byte_at(const std::byte* p, std::size_t i) { return std::to_integer<std::uint8_t>(p[i]); }
[[nodiscard]] inline std::uint16_t u16_at(const std::byte* p) {
  std::uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
[[nodiscard]] inline std::uint32_t u32_at(const std::byte* p) {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
[[nodiscard]] inline std::uint64_t u64_at(const std::byte* p) {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
[[nodiscard]] inline float half_at(const std::byte* p) { return half_to_float(u16_at(p)); }
// Value i (0..31) of 16 bytes of nibbles: low nibbles are values 0..15, high ones 16..31.
[[nodiscard]] inline std::uint8_t nibble_at(const std::byte* nibbles, std::size_t i) {
  const std::uint8_t byte = byte_at(nibbles, i % 16);
  return static_cast<std::uint8_t>(i < 16 ? byte & 15 : byte >> 4);
}

}  // namespace layerstream::quant

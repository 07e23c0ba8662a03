#pragma once
// SPDX-License-Identifier: MIT
// 64-bit arithmetic on sizes that come from a file. wasm32's size_t has 32 bits, so sizes stay
// std::uint64_t until an allocation has been decided.

#include <cstdint>
#include <optional>

namespace layerstream {

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// `value` rounded up to a multiple of `alignment` (a power of two).
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_align(std::uint64_t value, std::uint64_t alignment) {
  const auto sum = checked_add(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

}  // namespace layerstream

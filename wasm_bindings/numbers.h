#pragma once
// SPDX-License-Identifier: MIT
// What JS numbers become here, and the other way round.

#include <cstdint>

namespace layerstream::bindings {

inline double address(const void* pointer) { return static_cast<double>(reinterpret_cast<std::uintptr_t>(pointer)); }

template <typename T>
T* pointer_at(double value) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(value));
}

// JS numbers to unsigned integers; anything that is none becomes 0.
inline std::uint64_t to_uint(double value, std::uint64_t high) {
  if (!(value > 0)) return 0;
  return value >= static_cast<double>(high) ? high : static_cast<std::uint64_t>(value);
}
inline std::uint32_t to_u32(double value) { return static_cast<std::uint32_t>(to_uint(value, UINT32_MAX)); }

// JS numbers to signed integers; what is too small, or none, becomes the lowest.
inline std::int32_t to_i32(double value) {
  if (!(value > INT32_MIN)) return INT32_MIN;
  return value >= INT32_MAX ? INT32_MAX : static_cast<std::int32_t>(value);
}

}  // namespace layerstream::bindings

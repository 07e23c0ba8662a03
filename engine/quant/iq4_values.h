#pragma once
// SPDX-License-Identifier: MIT
// The 16 values that the nibbles of IQ4_NL and IQ4_XS stand for. They need the whole signed byte, but not -128.

#include <cstdint>

namespace layerstream::quant {

inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

}  // namespace layerstream::quant

#pragma once
// SPDX-License-Identifier: MIT
// IQ1_S and IQ1_M: a value is d * (2t + 1) * (grid +- 1/8), so v = 8 * grid +- 1 with S = d / 8, and the code is v + 9.

#include "quant/iq_codes.h"

namespace layerstream::quant {

inline constexpr int kIq1Offset = 9;
inline constexpr int kIq1MaxCode = 18;
// Codes of rows that are shifted down; 2 more in each byte for rows that are shifted up.
inline constexpr auto kIq1Down = grid_bytes<std::uint64_t>(kIq1SGrid, 8, kIq1Offset - 1);
inline constexpr std::uint64_t kIq1Up = 0x0202020202020202u;

inline int iq1_value(std::size_t index, std::size_t i, bool down) { return 8 * grid_value(kIq1SGrid, index, i) + (down ? -1 : 1); }

}  // namespace layerstream::quant

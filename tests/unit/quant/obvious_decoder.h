#pragma once
// SPDX-License-Identifier: MIT
// One value of a packed row, read straight from the description of the format and independent of engine/quant.
// Slow and plain on purpose.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "base/half.h"

namespace layerstream::test {

inline float obvious_half(const std::uint8_t* b, std::size_t at) { return half_to_float(static_cast<std::uint16_t>(b[at] | b[at + 1] << 8)); }
inline std::uint32_t obvious_u32(const std::uint8_t* b, std::size_t at) {
  return static_cast<std::uint32_t>(b[at]) | static_cast<std::uint32_t>(b[at + 1]) << 8 | static_cast<std::uint32_t>(b[at + 2]) << 16 |
         static_cast<std::uint32_t>(b[at + 3]) << 24;
}
inline int obvious_nibble(const std::uint8_t* codes, std::size_t e) { return e < 16 ? codes[e] & 15 : codes[e - 16] >> 4; }

inline constexpr int kObviousIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// Scale and minimum of group g of a Q4_K or Q5_K block.
inline void obvious_k_scale(const std::uint8_t* p, std::size_t g, int& s, int& n) {
  s = g < 4 ? p[g] & 63 : (p[g + 4] & 15) | (p[g - 4] >> 6) << 4;
  n = g < 4 ? p[g + 4] & 63 : (p[g + 4] >> 4) | (p[g] >> 6) << 4;
}

// Value e of the block at b. Returns false for a type this decoder does not know.
inline bool obvious_value(QuantType type, const std::uint8_t* b, std::size_t e, float& out) {
  int s = 0, n = 0;
  switch (type) {
    case QuantType::f32:
      out = std::bit_cast<float>(obvious_u32(b, 0));
      return true;
    case QuantType::f16:
      out = obvious_half(b, 0);
      return true;
    case QuantType::bf16:
      out = std::bit_cast<float>(static_cast<std::uint32_t>(b[0]) << 16 | static_cast<std::uint32_t>(b[1]) << 24);
      return true;
    case QuantType::q8_0:
      out = obvious_half(b, 0) * static_cast<float>(static_cast<std::int8_t>(b[2 + e]));
      return true;
    case QuantType::q4_0:
      out = obvious_half(b, 0) * static_cast<float>(obvious_nibble(b + 2, e) - 8);
      return true;
    case QuantType::q4_1:
      out = obvious_half(b, 0) * static_cast<float>(obvious_nibble(b + 4, e)) + obvious_half(b, 2);
      return true;
    case QuantType::q5_0:
      out = obvious_half(b, 0) * static_cast<float>((obvious_nibble(b + 6, e) | static_cast<int>(obvious_u32(b, 2) >> e & 1) << 4) - 16);
      return true;
    case QuantType::q5_1:
      out = obvious_half(b, 0) * static_cast<float>(obvious_nibble(b + 8, e) | static_cast<int>(obvious_u32(b, 4) >> e & 1) << 4) +
            obvious_half(b, 2);
      return true;
    case QuantType::q4_k:
    case QuantType::q5_k: {
      const std::size_t g = e / 32;
      obvious_k_scale(b + 4, g, s, n);
      const std::uint8_t code = b[(type == QuantType::q4_k ? 16 : 48) + 32 * (g / 2) + e % 32];
      int v = g % 2 == 0 ? code & 15 : code >> 4;
      if (type == QuantType::q5_k) v |= (b[16 + e % 32] >> g & 1) << 4;
      out = obvious_half(b, 0) * static_cast<float>(s) * static_cast<float>(v) - obvious_half(b, 2) * static_cast<float>(n);
      return true;
    }
    case QuantType::q6_k: {
      const std::size_t c = e / 128, k = e % 128 / 32, l = e % 32;
      const std::uint8_t low = b[64 * c + 32 * (k % 2) + l];
      const int v = ((k < 2 ? low & 15 : low >> 4) | (b[128 + 32 * c + l] >> (2 * k) & 3) << 4) - 32;
      out = obvious_half(b, 208) * static_cast<float>(static_cast<std::int8_t>(b[192 + e / 16])) * static_cast<float>(v);
      return true;
    }
    case QuantType::q2_k: {
      const int v = b[16 + e / 128 * 32 + e % 32] >> (e % 128 / 32 * 2) & 3;
      out = obvious_half(b, 80) * static_cast<float>(b[e / 16] & 15) * static_cast<float>(v) -
            obvious_half(b, 82) * static_cast<float>(b[e / 16] >> 4);
      return true;
    }
    case QuantType::q3_k: {
      const std::size_t g = e / 16;
      s = (g < 8 ? b[96 + g] & 15 : b[96 + g - 8] >> 4) | (b[104 + g % 4] >> (2 * (g / 4)) & 3) << 4;
      const int v = (b[32 + e / 128 * 32 + e % 32] >> (e % 128 / 32 * 2) & 3) | (b[e % 32] >> (e / 32) & 1) << 2;
      out = obvious_half(b, 108) * static_cast<float>(s - 32) * static_cast<float>(v - 4);
      return true;
    }
    case QuantType::iq4_nl:
      out = obvious_half(b, 0) * static_cast<float>(kObviousIq4[obvious_nibble(b + 2, e)]);
      return true;
    case QuantType::iq4_xs: {
      const std::size_t g = e / 32;
      const unsigned upper = static_cast<unsigned>(b[2] | b[3] << 8);
      s = (g % 2 == 0 ? b[4 + g / 2] & 15 : b[4 + g / 2] >> 4) | static_cast<int>(upper >> (2 * g) & 3) << 4;
      out = obvious_half(b, 0) * static_cast<float>(s - 32) * static_cast<float>(kObviousIq4[obvious_nibble(b + 8 + 16 * g, e % 32)]);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace layerstream::test

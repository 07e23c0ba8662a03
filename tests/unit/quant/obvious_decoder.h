#pragma once
// SPDX-License-Identifier: MIT
// One value of a packed row, read straight from the description of the format and independent of engine/quant but for the
// numbers of the code tables. Slow and plain on purpose.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "base/half.h"
#include "quant/iq_grids.h"

namespace layerstream::test {

inline float obvious_half(const std::uint8_t* b, std::size_t at) { return half_to_float(static_cast<std::uint16_t>(b[at] | b[at + 1] << 8)); }
inline std::uint32_t obvious_u32(const std::uint8_t* b, std::size_t at) {
  return static_cast<std::uint32_t>(b[at]) | static_cast<std::uint32_t>(b[at + 1]) << 8 | static_cast<std::uint32_t>(b[at + 2]) << 16 |
         static_cast<std::uint32_t>(b[at + 3]) << 24;
}
inline int obvious_nibble(const std::uint8_t* codes, std::size_t e) { return e < 16 ? codes[e] & 15 : codes[e - 16] >> 4; }

inline constexpr int kObviousIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

inline constexpr int kObviousFp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// 2^exponent, subnormal results included.
inline float obvious_power_of_two(int exponent) {
  float value = 1.0f;
  for (; exponent > 0; --exponent) value *= 2.0f;
  for (; exponent < 0; ++exponent) value *= 0.5f;
  return value;
}
// Unsigned E4M3.
inline float obvious_ue4m3(int c) {
  if (c == 0x7f) return 0.0f;
  const int x = c >> 3 & 15, f = c & 7;
  return x == 0 ? static_cast<float>(f) * obvious_power_of_two(-9) : static_cast<float>(8 + f) * obvious_power_of_two(x - 10);
}
// Digit k of a TQ1_0 byte.
inline int obvious_trit(int byte, std::size_t k) {
  for (; k > 0; --k) byte = byte * 3 & 255;
  return byte * 3 >> 8;
}

template <std::size_t Rows, std::size_t Length, std::size_t Levels>
int obvious_grid(const quant::IqGrid<Rows, Length, Levels>& grid, std::size_t row, std::size_t i) {
  unsigned digits = grid.rows[row];
  const unsigned base = Levels == 3 ? 4 : 8;
  for (; i > 0; --i) digits /= base;
  return grid.levels[digits % base];
}
// Whether value i of 8 is negative, by a 7-bit sign index: the number of negative values is even.
inline bool obvious_sign(std::uint32_t index, std::size_t i) {
  bool parity = false;
  for (std::size_t bit = 0; bit < 7; ++bit) parity ^= (index >> bit & 1) != 0;
  return i < 7 ? (index >> i & 1) != 0 : parity;
}

// Scale and minimum of group g of a Q4_K or Q5_K block.
inline void obvious_k_scale(const std::uint8_t* p, std::size_t g, int& s, int& n) {
  s = g < 4 ? p[g] & 63 : (p[g + 4] & 15) | (p[g - 4] >> 6) << 4;
  n = g < 4 ? p[g + 4] & 63 : (p[g + 4] >> 4) | (p[g] >> 6) << 4;
}

// The IQ1, IQ2 and IQ3 types.
inline bool obvious_iq_value(QuantType type, const std::uint8_t* b, std::size_t e, float& out) {
  const std::size_t g = e / 32, k = e / 8, i = e % 8;
  int t = 0;
  int v = 0;
  float d = obvious_half(b, 0);
  switch (type) {
    case QuantType::iq2_xxs: {
      const std::uint32_t w = obvious_u32(b, 2 + 8 * g + 4);
      t = static_cast<int>(w >> 28);
      v = obvious_grid(quant::kIq2XxsGrid, b[2 + 8 * g + k % 4], i);
      if (obvious_sign(w >> (7 * (k % 4)) & 127, i)) v = -v;
      d /= 8.0f;
      break;
    }
    case QuantType::iq2_xs: {
      const std::uint32_t w = b[2 + 2 * k] + 256u * b[3 + 2 * k];
      t = e / 16 % 2 == 0 ? b[66 + g] % 16 : b[66 + g] / 16;
      v = obvious_grid(quant::kIq2XsGrid, w % 512, i);
      if (obvious_sign(w / 512, i)) v = -v;
      d /= 8.0f;
      break;
    }
    case QuantType::iq2_s:
      t = e / 16 % 2 == 0 ? b[74 + g] % 16 : b[74 + g] / 16;
      v = obvious_grid(quant::kIq2SGrid, b[2 + k] + 256u * (b[66 + k / 4] >> (2 * (k % 4)) & 3u), i);
      if (b[34 + k] >> i & 1) v = -v;
      d /= 8.0f;
      break;
    case QuantType::iq3_xxs: {
      const std::uint32_t w = obvious_u32(b, 66 + 4 * g);
      t = static_cast<int>(w >> 28);
      v = obvious_grid(quant::kIq3XxsGrid, b[2 + e / 4], e % 4);
      if (obvious_sign(w >> (7 * (k % 4)) & 127, i)) v = -v;
      d /= 4.0f;
      break;
    }
    case QuantType::iq3_s:
      t = g % 2 == 0 ? b[106 + g / 2] % 16 : b[106 + g / 2] / 16;
      v = obvious_grid(quant::kIq3SGrid, b[2 + e / 4] + 256u * (b[66 + g] >> (e / 4 % 8) & 1u), e % 4);
      if (b[74 + k] >> i & 1) v = -v;
      break;
    case QuantType::iq1_s: {
      const unsigned w = b[34 + 2 * g] + 256u * b[35 + 2 * g];
      t = static_cast<int>(w >> 12 & 7);
      v = 8 * obvious_grid(quant::kIq1SGrid, b[2 + k] + 256u * (w >> (3 * (k % 4)) & 7), i) + (w >= 0x8000 ? -1 : 1);
      d /= 8.0f;
      break;
    }
    case QuantType::iq1_m: {
      const int nibble = k % 2 == 0 ? b[32 + k / 2] % 16 : b[32 + k / 2] / 16;
      const std::size_t group = e / 16;
      t = (b[48 + 2 * (group / 4)] + 256 * b[49 + 2 * (group / 4)]) >> (3 * (group % 4)) & 7;
      v = 8 * obvious_grid(quant::kIq1SGrid, b[k] + 256u * static_cast<unsigned>(nibble % 8), i) + (nibble >= 8 ? -1 : 1);
      d = half_to_float(static_cast<std::uint16_t>(b[49] / 16 + 16 * (b[51] / 16) + 256 * (b[53] / 16) + 4096 * (b[55] / 16))) / 8.0f;
      break;
    }
    default:
      return false;
  }
  out = d * static_cast<float>(2 * t + 1) * static_cast<float>(v);
  return true;
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
    case QuantType::mxfp4:
      out = obvious_power_of_two(b[0] - 128) * static_cast<float>(kObviousFp4[obvious_nibble(b + 1, e)]);
      return true;
    case QuantType::nvfp4: {
      const std::size_t g = e / 16, r = e % 16;
      const std::uint8_t code = b[4 + 8 * g + r % 8];
      out = obvious_ue4m3(b[g]) / 2.0f * static_cast<float>(kObviousFp4[r < 8 ? code & 15 : code >> 4]);
      return true;
    }
    case QuantType::q1_0:
      out = obvious_half(b, 0) * (b[2 + e / 8] >> (e % 8) & 1 ? 1.0f : -1.0f);
      return true;
    case QuantType::q2_0:
      out = obvious_half(b, 0) * static_cast<float>((b[2 + e / 4] >> (2 * (e % 4)) & 3) - 1);
      return true;
    case QuantType::tq2_0:
      out = obvious_half(b, 64) * static_cast<float>((b[e / 128 * 32 + e % 32] >> (e % 128 / 32 * 2) & 3) - 1);
      return true;
    case QuantType::tq1_0: {
      const int trit = e < 160   ? obvious_trit(b[e % 32], e / 32)
                       : e < 240 ? obvious_trit(b[32 + (e - 160) % 16], (e - 160) / 16)
                                 : obvious_trit(b[48 + (e - 240) % 4], (e - 240) / 4);
      out = obvious_half(b, 52) * static_cast<float>(trit - 1);
      return true;
    }
    default:
      return obvious_iq_value(type, b, e, out);
  }
}

}  // namespace layerstream::test

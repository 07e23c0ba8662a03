#pragma once
// SPDX-License-Identifier: MIT
// What the IQ1, IQ2 and IQ3 types share: 8 (IQ3: 4) neighbouring values are one row of a grid (iq_grids.h), named by an index;
// IQ2 and IQ3 add a sign bit per value. All have quant blocks of 256. Any index field has just the bits its grid needs.

#include <array>
#include <bit>

#include "quant/bytes.h"
#include "quant/iq_grids.h"
#include "quant/quant_traits.h"
#include "simd/half4.h"

namespace layerstream::quant {

// Value i of row `index`.
template <std::size_t Rows, std::size_t Length, std::size_t Levels>
constexpr int grid_value(const IqGrid<Rows, Length, Levels>& grid, std::size_t index, std::size_t i) {
  constexpr std::size_t kDigitBits = std::bit_width(Levels - 1);
  return grid.levels[(grid.rows[index] >> (kDigitBits * i)) & ((1u << kDigitBits) - 1)];
}

// The rows as bytes factor * value + offset, value 0 in the lowest byte: what one load of the kernels brings.
template <typename Word, std::size_t Rows, std::size_t Levels>
constexpr std::array<Word, Rows> grid_bytes(const IqGrid<Rows, sizeof(Word), Levels>& grid, int factor = 1, int offset = 0) {
  std::array<Word, Rows> words = {};
  for (std::size_t row = 0; row < Rows; ++row) {
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
      words[row] |= static_cast<Word>(factor * grid_value(grid, row, i) + offset) << (8 * i);
    }
  }
  return words;
}

// 16 codes v + Offset, v negative where a bit of `signs` is set.
template <int Offset>
LAYERSTREAM_INLINE simd::u8x16 signed_codes(simd::u8x16 magnitudes, std::uint32_t signs) {
  const simd::u8x16 negative = simd::spread_bits<0>((simd::u8x16)simd::splat_u32(signs), 0xff);
  return (magnitudes ^ negative) + (simd::splat_u8(Offset) - negative);
}

// A sign index is the first seven sign bits of 8 values; the eighth makes the number of negative values even.
LAYERSTREAM_INLINE std::uint32_t complete_signs(std::uint32_t sign_index_per_byte) {
  std::uint32_t parity = sign_index_per_byte ^ (sign_index_per_byte >> 4);
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return sign_index_per_byte | (parity & 0x01010101u) << 7;
}
// Four sign indices in the low 28 bits to four bytes of sign bits.
LAYERSTREAM_INLINE std::uint32_t unpack_signs(std::uint32_t packed) {
  return complete_signs((packed & 0x7fu) | ((packed << 1) & 0x7f00u) | ((packed << 2) & 0x7f0000u) | ((packed << 3) & 0x7f000000u));
}
inline int sign_at(std::uint32_t sign_index, std::size_t i) {
  const bool negative = i < 7 ? (sign_index >> i & 1) != 0 : std::popcount(sign_index & 0x7fu) % 2 != 0;
  return negative ? -1 : 1;
}

// s = 2 t + 1 of the two nibbles t of one byte per run.
LAYERSTREAM_INLINE SubScales nibble_sub_scales(const std::byte* bytes) {
  const simd::i32x4 t = simd::bytes_as_i32(u32_at(bytes));
  return {((t & 15) << 1) + 1, ((t >> 4) << 1) + 1};
}
inline void set_nibble_sub_scales(std::uint8_t byte, ScalarBlock& out) {
  out.sub_scale[0] = 2 * (byte & 15) + 1;
  out.sub_scale[1] = 2 * (byte >> 4) + 1;
}

}  // namespace layerstream::quant

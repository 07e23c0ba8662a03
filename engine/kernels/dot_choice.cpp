// SPDX-License-Identifier: MIT
#include "kernels/dot_choice.h"

#include "simd/simd.h"

namespace layerstream::kernels {
namespace {

#if LAYERSTREAM_SIMD_QUADS

// Which instructions stand behind the relaxed dot shows where its operands go beyond 0..127, and there alone. x86 without VNNI
// has a 16-bit step on the way, which saturates: 2 * 32767. With VNNI the sum of 4 * 127 * 255 is whole, ARM takes 255 as -1.
DotChoice look() {
  std::int8_t x[16];
  std::uint8_t codes[16];
  for (std::size_t i = 0; i < 16; ++i) x[i] = 127, codes[i] = 255;
  const simd::i32x4 sums = simd::add_dot_quads(simd::i32x4{}, simd::as_i8(simd::load_u8(x)), simd::as_i8(simd::load_u8(codes)));
  return sums[0] == 2 * 32767 ? DotChoice::other : DotChoice::main;
}

#else

DotChoice look() { return DotChoice::main; }

#endif

}  // namespace

DotChoice preferred_dot() {
  static const DotChoice choice = look();
  return choice;
}

}  // namespace layerstream::kernels

#pragma once
// SPDX-License-Identifier: MIT
// Which of the build's two integer dots (simd/dots.h) products take. In the relaxed builds one opcode is four products per lane in
// one instruction where the processor has it (VNNI, ARM's dot product) and five where not; the other, two products per lane,
// is one instruction on every x86 and several on ARM. A page cannot ask which processor it runs on, so it is measured. Either gives the same bits.

namespace layerstream::kernels {

enum class DotChoice {
  main,   // simd::Dot
  other,  // simd::OtherDot
};

// The faster one here: measured once, in about 2 ms, at the first call; `main` in builds where nothing is to choose.
[[nodiscard]] DotChoice preferred_dot();

}  // namespace layerstream::kernels

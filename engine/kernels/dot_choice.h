#pragma once
// SPDX-License-Identifier: MIT
// Which of the build's two integer dots (simd/dots.h) products take. In the relaxed builds one opcode is four products a lane: one
// instruction where the processor has it (VNNI, ARM's dot product), five where not; the other is two products a lane: one
// instruction on every x86, several on ARM. A page cannot ask for the processor, but it can look (docs/decisions/0011). Either gives
// the same bits.

namespace layerstream::kernels {

enum class DotChoice {
  main,   // simd::Dot
  other,  // simd::OtherDot
};

// The faster one here; `main` in builds where nothing is to choose.
[[nodiscard]] DotChoice preferred_dot();

}  // namespace layerstream::kernels

#pragma once
// SPDX-License-Identifier: MIT
// Rotary position embedding (Su et al. 2021). Angles are formed in double with base/math.h and cached as f32
// sine and cosine; exact from position 0 to 1 M.

#include <cstddef>
#include <cstdint>
#include <span>

namespace layerstream::kernels {

enum class RopePairs {
  adjacent,    // (2i, 2i+1): arch `llama`
  half_split,  // (i, i + n/2) within the rotated part: qwen2, gemma, phi
};

// cos/sin [inverse_frequencies.size()] of position * inverse_frequency, each times magnitude (YaRN/LongRoPE; else 1).
void rope_table(std::uint64_t position, std::span<const double> inverse_frequencies, double magnitude, float* cos, float* sin);

// Rotates the first 2 * n_pairs values of each of n_heads heads [n_heads, head_dim] in place; the rest passes through.
void rope_apply(RopePairs pairs, const float* cos, const float* sin, std::size_t n_pairs, float* heads, std::size_t n_heads,
                std::size_t head_dim);

}  // namespace layerstream::kernels

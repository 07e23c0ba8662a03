#pragma once
// SPDX-License-Identifier: MIT
// From rope settings and divisor tensors to the inverse frequencies the kernels rotate by.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/config.h"

namespace layerstream::model {

struct Rope {
  std::vector<double> inverse_frequencies;  // [dims / 2], scaling applied
  double magnitude = 1.0;                   // of sine and cosine
};

// Pair i turns by pos * base^(-2i/dims) / divisor[i], scaled linearly (1 / factor) or by YaRN (Peng et al. 2023, the NTK-by-parts
// rule with beta 32 and 1). `divisors` is empty or [dims / 2]; a zero or non-finite entry is bad_value.
[[nodiscard]] Result<Rope> make_rope(const RopeSettings& settings, std::span<const float> divisors);

}  // namespace layerstream::model

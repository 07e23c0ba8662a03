#pragma once
// SPDX-License-Identifier: MIT
// The tokens so far, oldest first; the sampler gets them with every draw and keeps none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace layerstream {

using History = std::span<const std::int32_t>;

// The last `n`, or all of them if n is negative.
[[nodiscard]] inline History last_tokens(History history, std::int32_t n) {
  return n < 0 ? history : history.last(std::min(history.size(), static_cast<std::size_t>(n)));
}

}  // namespace layerstream

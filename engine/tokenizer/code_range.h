#pragma once
// SPDX-License-Identifier: MIT
// Sets of code points, as the generated tables store them.

#include <algorithm>
#include <cstdint>
#include <span>

namespace layerstream::unicode {

// Every stride-th code point from first to last.
struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;  // included
  std::uint32_t stride;
};

// `ranges` ascend and are disjoint.
[[nodiscard]] constexpr bool contains(std::span<const CodeRange> ranges, std::uint32_t code_point) {
  const auto at = std::ranges::lower_bound(ranges, code_point, {}, &CodeRange::last);
  return at != ranges.end() && code_point >= at->first && (code_point - at->first) % at->stride == 0;
}

}  // namespace layerstream::unicode

#pragma once
// SPDX-License-Identifier: MIT
// Unicode normalization form C, which Qwen's tokenizer brings texts to. Data: normalization_tables.h (generated).

#include <string>
#include <string_view>

namespace layerstream::unicode {

// Bytes that are not UTF-8 are kept and never join what is around them. Work is linear but for sorting the marks
// of one character: O(n log n).
[[nodiscard]] std::string to_nfc(std::string_view text);

}  // namespace layerstream::unicode

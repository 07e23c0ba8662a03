#pragma once
// SPDX-License-Identifier: MIT
// UTF-8, one unit at a time. Ill-formed input is cut into "maximal subparts" (Unicode, chapter 3.9, the
// rule browsers follow): each becomes one U+FFFD when text is wanted, and is kept byte for byte elsewhere.

#include <cstdint>
#include <string>
#include <string_view>

namespace layerstream::utf8 {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

enum class UnitKind : std::uint8_t {
  valid,
  invalid,     // no continuation can repair these bytes
  incomplete,  // the input ends inside what may still become a valid sequence
};

struct Unit {
  UnitKind kind = UnitKind::invalid;
  std::uint32_t bytes = 1;   // 1..4
  char32_t code_point = 0;   // of a valid unit
};

// The unit at the start of `text`, which must not be empty.
[[nodiscard]] Unit next_unit(std::string_view text);

// Appends the bytes of a code point below U+110000.
void append(std::string& out, char32_t code_point);

}  // namespace layerstream::utf8

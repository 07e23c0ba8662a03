// SPDX-License-Identifier: MIT
// Binary search in the generated runs; ASCII is answered from a table made at compile time.

#include "tokenizer/unicode.h"

#include <array>

#include "tokenizer/unicode_tables.h"

namespace layerstream::unicode {
namespace {

constexpr Classes search(std::uint32_t code_point) {
  Classes classes = 0;
  if (contains(kLetterRanges, code_point)) {
    classes |= kLetter;
    if (contains(kUpperRanges, code_point)) classes |= kUpper;
    if (contains(kLowerRanges, code_point)) classes |= kLower;
    return classes;
  }
  if (contains(kNumberRanges, code_point)) return kNumber;
  if (contains(kMarkRanges, code_point)) return kMark;
  if (contains(kPunctuationRanges, code_point)) return kPunctuation;
  if (contains(kSymbolRanges, code_point)) return kSymbol;
  if (contains(kSpaceRanges, code_point)) return kSpace;
  return 0;
}

constexpr auto kAscii = [] {
  std::array<Classes, 128> table{};
  for (std::uint32_t c = 0; c < table.size(); ++c) table[c] = search(c);
  return table;
}();

}  // namespace

Classes classes_of(char32_t code_point) {
  return code_point < kAscii.size() ? kAscii[code_point] : search(code_point);
}

bool is_cased_script_letter(char32_t code_point) { return contains(kCasedLetterRanges, code_point); }

}  // namespace layerstream::unicode

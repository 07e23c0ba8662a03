#pragma once
// SPDX-License-Identifier: MIT
// Classes of code points as the pre-tokenizer patterns name them. Data: unicode_tables.h (generated).

#include <cstdint>

namespace layerstream::unicode {

// Bits; a code point may have several (a lower-case letter has kLetter and kLower).
using Classes = std::uint8_t;
inline constexpr Classes kLetter = 1;        // \p{L}
inline constexpr Classes kNumber = 2;        // \p{N}
inline constexpr Classes kMark = 4;          // \p{M}
inline constexpr Classes kSpace = 8;         // \s
inline constexpr Classes kUpper = 16;        // \p{Lu} \p{Lt}
inline constexpr Classes kLower = 32;        // \p{Ll}
inline constexpr Classes kPunctuation = 64;  // \p{P}
inline constexpr Classes kSymbol = 128;      // \p{S}

// 0 for everything else, also beyond U+10FFFF.
[[nodiscard]] Classes classes_of(char32_t code_point);

// The letters that DeepSeek's tokenizers of 2023 list: those of scripts with case, as Unicode had them then.
[[nodiscard]] bool is_cased_script_letter(char32_t code_point);

}  // namespace layerstream::unicode

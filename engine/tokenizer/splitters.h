#pragma once
// SPDX-License-Identifier: MIT
// The splitters that the table of pre-tokenizers is made of, by the expression each stands for.

#include <cstddef>
#include <span>

#include "tokenizer/pretokenizers.h"

namespace layerstream::splitters {

// splitters_words.cpp: whole expressions, of which every character is part of a match.
std::size_t gpt2(std::span<const CodePoint> text, std::size_t at);
std::size_t llama3(std::span<const CodePoint> text, std::size_t at);
std::size_t qwen2(std::span<const CodePoint> text, std::size_t at);
std::size_t seed_coder(std::span<const CodePoint> text, std::size_t at);
std::size_t tekken(std::span<const CodePoint> text, std::size_t at);
std::size_t gpt4o(std::span<const CodePoint> text, std::size_t at);

// splitters_stages.cpp: links of chains; what lies between two matches is a piece too.
std::size_t numbers(std::span<const CodePoint> text, std::size_t at);         // N+
std::size_t single_numbers(std::span<const CodePoint> text, std::size_t at);  // N
std::size_t three_numbers(std::span<const CodePoint> text, std::size_t at);   // N{1,3}
std::size_t three_digits(std::span<const CodePoint> text, std::size_t at);    // [0-9][0-9][0-9]
std::size_t single_lines(std::span<const CodePoint> text, std::size_t at);    // [\r\n]
std::size_t last_spaces(std::span<const CodePoint> text, std::size_t at);     // S+$
std::size_t letters(std::span<const CodePoint> text, std::size_t at);         // S?L+
std::size_t punctuation(std::span<const CodePoint> text, std::size_t at);     // S?P+
std::size_t cased_letters(std::span<const CodePoint> text, std::size_t at);   // DeepSeek LLM's list of letters
std::size_t listed_marks(std::span<const CodePoint> text, std::size_t at);    // ... and of punctuation
std::size_t han_hangul(std::span<const CodePoint> text, std::size_t at);      // DeepSeek 2023
std::size_t han_kana(std::span<const CodePoint> text, std::size_t at);        // DeepSeek V3
std::size_t deepseek_v3(std::span<const CodePoint> text, std::size_t at);
std::size_t default_marks(std::span<const CodePoint> text, std::size_t at);   // [P$+<=>^~|]+
std::size_t falcon_marks(std::span<const CodePoint> text, std::size_t at);    // the same and `
std::size_t viking(std::span<const CodePoint> text, std::size_t at);

}  // namespace layerstream::splitters

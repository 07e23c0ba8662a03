#pragma once
// SPDX-License-Identifier: MIT
// Byte-level BPE first cuts a text into pieces that never merge with each other. Models publish the cut as a
// chain of regular expressions; here each expression is a hand-written function over classified code points.
//
// To add one: its splitters (splitters.h), a row in the table of pretokenizers.cpp, and its expressions in
// scripts/unicode/patterns.mjs, which tests them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/unicode.h"

namespace layerstream {

struct CodePoint {
  char32_t value = 0;          // U+FFFD where the text is not UTF-8; the bytes stay what they are
  std::uint32_t bytes = 1;
  unicode::Classes classes = 0;
};

// The end of the piece that begins at `at` (at < text.size()); always > at. The text's ends are the ends for
// look-ahead too.
using Splitter = std::size_t (*)(std::span<const CodePoint> text, std::size_t at);

struct PreTokenizer {
  std::string_view name;             // value of tokenizer.ggml.pre
  std::span<const Splitter> stages;  // each cuts the pieces of the one before
  bool whole_piece_first = false;    // a piece that is a token is taken without merging
  bool adds_bos = false;             // where the file does not say
  bool composes = false;             // texts are brought to NFC first
};

// nullptr for unknown names.
[[nodiscard]] const PreTokenizer* find_pre_tokenizer(std::string_view name);
// For files from before tokenizer.ggml.pre existed: by the number of tokens, where that tells the model
// family. nullptr: it does not.
[[nodiscard]] const PreTokenizer* guess_pre_tokenizer(std::size_t vocab_size);
// "gpt-2, phi-2, ..."
[[nodiscard]] std::string pre_tokenizer_names();

// Lengths in bytes of the pieces of `text`, in order.
[[nodiscard]] std::vector<std::uint32_t> split_pieces(const PreTokenizer& pre_tokenizer, std::string_view text);

}  // namespace layerstream

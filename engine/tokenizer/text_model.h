#pragma once
// SPDX-License-Identifier: MIT
// What the two tokenizer kinds do differently. Special tokens, BOS and EOS are dealt with by Tokenizer.
// A model refers to the vocabulary it was made for and does not own it.

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/merge_list.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/word_cache.h"

namespace layerstream {

// What one call of Tokenizer::encode keeps from fragment to fragment: words met before, and memory.
struct EncodeState {
  explicit EncodeState(std::size_t text_bytes) : words(text_bytes) {}

  WordCache words;
  MergeList merges;
  std::vector<Symbol> symbols;
  MergeWork work;
};

class TextModel {
 public:
  virtual ~TextModel() = default;

  [[nodiscard]] virtual std::string_view kind() const = 0;
  [[nodiscard]] virtual std::string_view pre_tokenizer() const = 0;
  [[nodiscard]] virtual std::string_view pre_tokenizer_origin() const = 0;
  // Whether `encode` puts a space before a text that begins the input or follows a special token.
  [[nodiscard]] virtual bool adds_space() const = 0;
  // Appends the ids of `text` (not empty). `at_start`: begins the input or follows a special token.
  // `ids` and `state` are those of the fragments before.
  virtual void encode(std::string_view text, bool at_start, std::vector<TokenId>& ids, EncodeState& state) const = 0;
  // The bytes of a normal or byte token.
  [[nodiscard]] virtual std::string bytes_of(TokenId id) const = 0;
};

}  // namespace layerstream

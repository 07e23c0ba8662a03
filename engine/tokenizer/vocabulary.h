#pragma once
// SPDX-License-Identifier: MIT
// The token list of a file: texts, types, and the way from a text to its id. Owns a copy of the texts.
// Types are corrected here: texts that only special tokens have (`<|...|>`, `</s>`, ...) become control
// tokens whatever the file says, so that user text can never turn into them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/metadata.h"
#include "tokenizer/text_index.h"
#include "tokenizer/tokenizer.h"

namespace layerstream {

inline constexpr TokenId kNoToken = -1;

class Vocabulary {
 public:
  // missing_key without tokens; bad_value for lists that are empty, too short or hold unknown types.
  // `byte_tokens`: `<0xNN>` texts mean bytes (llama kind). Without a type list all tokens are normal, but for those.
  [[nodiscard]] static Result<Vocabulary> create(const gguf::Metadata& metadata, bool byte_tokens);

  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] bool contains(std::int64_t id) const { return id >= 0 && static_cast<std::uint64_t>(id) < size(); }
  // Both need contains(id).
  [[nodiscard]] std::string_view text(TokenId id) const { return texts_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] TokenType type(TokenId id) const { return types_[static_cast<std::size_t>(id)]; }

  // The first token with this text, or kNoToken.
  [[nodiscard]] TokenId find(std::string_view text) const;
  // The same, but only a token that ordinary text may become: normal or user-defined.
  [[nodiscard]] TokenId find_plain(std::string_view text) const;
  [[nodiscard]] bool is_plain(TokenId id) const;
  [[nodiscard]] std::size_t longest_text_bytes() const { return longest_text_bytes_; }

 private:
  Vocabulary() = default;

  // A vector's buffer keeps its place when the vocabulary is moved (a short string's would not).
  std::vector<char> storage_;
  std::vector<std::string_view> texts_;  // into storage_
  std::vector<TokenType> types_;
  TextIndex index_;
  std::size_t longest_text_bytes_ = 0;
};

// The byte of `<0xNN>` (two hexadecimal digits of either case), or nothing.
[[nodiscard]] std::optional<std::uint8_t> parse_byte_token(std::string_view text);

}  // namespace layerstream

// SPDX-License-Identifier: MIT
// Reads tokenizer.ggml.tokens and tokenizer.ggml.token_type.

#include "tokenizer/vocabulary.h"

#include <algorithm>
#include <limits>

#include "gguf/message_text.h"
#include "tokenizer/special_tokens.h"

namespace layerstream {
namespace {

using gguf::join;

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

Result<std::vector<TokenType>> read_types(const gguf::Metadata& metadata, std::span<const std::string_view> texts,
                                          bool byte_tokens) {
  std::vector<TokenType> types(texts.size(), TokenType::normal);
  const auto numbers = LS_TRY(metadata.get_int_array(kTypesKey));
  if (!numbers) {
    for (std::size_t i = 0; byte_tokens && i < texts.size(); ++i) {
      if (parse_byte_token(texts[i])) types[i] = TokenType::byte;
    }
    return types;
  }
  if (numbers->size() < texts.size()) {
    return fail(ErrorCode::bad_value, join(kTypesKey, " has ", numbers->size(), " values for ", texts.size(), " tokens"));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::int64_t number = (*numbers)[i];
    if (number < 0 || number > 6) {
      return fail(ErrorCode::bad_value,
                  join(kTypesKey, "[", i, "] is ", number, ", known are 1 to 6"));
    }
    // 0 is "undefined" in the format: nothing is known of the token, so nothing is made of it.
    types[i] = number == 0 ? TokenType::unused : static_cast<TokenType>(number);
    // A byte token that names no byte stands for nothing.
    if (types[i] == TokenType::byte && !(byte_tokens && parse_byte_token(texts[i]))) types[i] = TokenType::unused;
  }
  return types;
}

}  // namespace

std::optional<std::uint8_t> parse_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const int high = hex_digit(text[3]);
  const int low = hex_digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<std::uint8_t>(high * 16 + low);
}

Result<Vocabulary> Vocabulary::create(const gguf::Metadata& metadata, bool byte_tokens) {
  const auto tokens = LS_TRY(metadata.get_string_array(kTokensKey));
  if (!tokens) return fail(ErrorCode::missing_key, join(kTokensKey, " is missing"));
  if (tokens->empty()) return fail(ErrorCode::bad_value, join(kTokensKey, " is empty"));
  if (tokens->size() > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
    return fail(ErrorCode::bad_value, join(kTokensKey, " has ", tokens->size(), " tokens"));
  }

  Vocabulary vocabulary;
  vocabulary.types_ = LS_TRY(read_types(metadata, *tokens, byte_tokens));
  std::size_t all_bytes = 0;
  for (const std::string_view text : *tokens) all_bytes += text.size();
  vocabulary.storage_.reserve(all_bytes);  // the views below need it not to move
  vocabulary.texts_.reserve(tokens->size());
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const std::string_view text = (*tokens)[i];
    const std::size_t begin = vocabulary.storage_.size();
    vocabulary.storage_.insert(vocabulary.storage_.end(), text.begin(), text.end());
    vocabulary.texts_.emplace_back(vocabulary.storage_.data() + begin, text.size());
    vocabulary.longest_text_bytes_ = std::max(vocabulary.longest_text_bytes_, text.size());
  }
  vocabulary.index_ = TextIndex::create(vocabulary.texts_);
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    if (vocabulary.is_plain(static_cast<TokenId>(i)) && looks_special(vocabulary, vocabulary.texts_[i])) {
      vocabulary.types_[i] = TokenType::control;
    }
  }
  return vocabulary;
}

TokenId Vocabulary::find(std::string_view text) const { return index_.find(texts_, text).value_or(kNoToken); }

TokenId Vocabulary::find_plain(std::string_view text) const {
  const TokenId id = find(text);
  return id != kNoToken && is_plain(id) ? id : kNoToken;
}

bool Vocabulary::is_plain(TokenId id) const {
  return type(id) == TokenType::normal || type(id) == TokenType::user_defined;
}

}  // namespace layerstream

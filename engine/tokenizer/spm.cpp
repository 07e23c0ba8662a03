// SPDX-License-Identifier: MIT
// SentencePiece keeps spaces as U+2581. Control, unknown, unused and byte tokens are never the result of a
// merge, whatever their score: text that spells one stays text.

#include "tokenizer/spm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "gguf/message_text.h"

namespace layerstream {
namespace {

using gguf::join;

constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

// Maps finite floats to integers of the reverse order; 0 and -0 are equal.
std::uint32_t falling_order(float score) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(score + 0.0f);
  const std::uint32_t rising = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return ~rising;
}

Result<std::vector<std::uint32_t>> read_merge_order(const gguf::Metadata& metadata, std::size_t vocab_size) {
  const auto scores = LS_TRY(metadata.get_float_array(kScoresKey));
  if (!scores) return fail(ErrorCode::missing_key, join(kScoresKey, " is missing"));
  if (scores->size() < vocab_size) {
    return fail(ErrorCode::bad_value, join(kScoresKey, " has ", scores->size(), " values for ", vocab_size, " tokens"));
  }
  std::vector<std::uint32_t> order(vocab_size);
  for (std::size_t i = 0; i < vocab_size; ++i) {
    const double score = (*scores)[i];
    if (!(std::fabs(score) <= static_cast<double>(std::numeric_limits<float>::max()))) {
      return fail(ErrorCode::bad_value, join(kScoresKey, "[", i, "] is not a finite float"));
    }
    order[i] = falling_order(static_cast<float>(score));
  }
  return order;
}

// Bytes of the character that begins with this byte; stray continuation bytes stand alone.
std::size_t character_bytes(char lead) {
  const auto high = static_cast<std::uint8_t>(lead) >> 4;
  return high < 0xC ? 1 : high < 0xE ? 2 : high < 0xF ? 3 : 4;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  std::size_t at = 0;
  for (std::size_t hit = text.find(from); hit != std::string::npos; hit = text.find(from, at)) {
    out.append(text, at, hit - at).append(to);
    at = hit + from.size();
  }
  text = out.append(text, at);
}

// One space for each run of them, none at either end.
std::string without_extra_spaces(std::string_view text) {
  std::string out;
  for (std::size_t at = text.find_first_not_of(' '); at != std::string_view::npos; at = text.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (!out.empty()) out += ' ';
    out += text.substr(at, end - at);
    at = end;
  }
  return out;
}

// Where the next word begins: a space mark after something else. npos: nowhere.
std::size_t next_word(std::string_view text) {
  for (std::size_t hit = text.find(kSpaceMark); hit != std::string_view::npos; hit = text.find(kSpaceMark, hit + 3)) {
    if (hit > 0 && !text.substr(0, hit).ends_with(kSpaceMark)) return hit;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<SpmModel>> SpmModel::create(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                                   TokenId unknown) {
  std::unique_ptr<SpmModel> model(new SpmModel(vocabulary));
  model->merge_order_ = LS_TRY(read_merge_order(metadata, vocabulary.size()));
  model->adds_space_ = LS_TRY(metadata.get_bool("tokenizer.ggml.add_space_prefix")).value_or(true);
  model->removes_extra_spaces_ = LS_TRY(metadata.get_bool("tokenizer.ggml.remove_extra_whitespaces")).value_or(false);
  model->find_byte_tokens(unknown);
  for (std::size_t i = 0; i < vocabulary.size() && model->words_are_separate_; ++i) {
    const auto id = static_cast<TokenId>(i);
    model->words_are_separate_ = !vocabulary.is_plain(id) || next_word(vocabulary.text(id)) == std::string_view::npos;
  }
  return model;
}

// A byte is written as its `<0xNN>` token, else as the token that is this very byte, else as unknown.
void SpmModel::find_byte_tokens(TokenId unknown) {
  byte_tokens_.fill(kNoToken);
  for (std::size_t i = 0; i < vocabulary_.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (vocabulary_.type(id) != TokenType::byte) continue;
    TokenId& slot = byte_tokens_[parse_byte_token(vocabulary_.text(id)).value_or(0)];
    if (slot == kNoToken) slot = id;
  }
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const auto as_char = static_cast<char>(byte);
    if (byte_tokens_[byte] == kNoToken) byte_tokens_[byte] = vocabulary_.find_plain({&as_char, 1});
    if (byte_tokens_[byte] == kNoToken) byte_tokens_[byte] = unknown;
  }
}

void SpmModel::encode(std::string_view text, bool at_start, std::vector<TokenId>& ids, EncodeState& state) const {
  std::string trimmed;
  if (removes_extra_spaces_) text = trimmed = without_extra_spaces(text);
  if (text.empty()) return;
  std::string marked(adds_space_ && at_start ? " " : "");
  marked += text;
  replace_all(marked, " ", kSpaceMark);

  std::string_view rest = marked;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, words_are_separate_ ? next_word(rest) : rest.size());
    state.words.append(word, ids, [&] { encode_word(word, ids, state); });
    rest.remove_prefix(word.size());
  }
}

void SpmModel::encode_word(std::string_view word, std::vector<TokenId>& ids, EncodeState& state) const {
  std::vector<Symbol>& symbols = state.symbols;
  symbols.clear();
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = std::min(character_bytes(word[at]), word.size() - at);
    symbols.push_back({at, bytes, vocabulary_.find_plain(word.substr(at, bytes))});
    at += bytes;
  }
  const auto find = [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
    const std::size_t bytes = left.bytes + right.bytes;
    if (bytes > vocabulary_.longest_text_bytes()) return std::nullopt;
    const TokenId id = vocabulary_.find_plain(word.substr(left.begin, bytes));
    if (id == kNoToken) return std::nullopt;
    return Merge{merge_order_[static_cast<std::size_t>(id)], id};
  };
  state.merges.merge(symbols, find, state.work);

  for (const Symbol& symbol : symbols) {
    if (symbol.id != kNoToken) {
      ids.push_back(symbol.id);
      continue;
    }
    for (const char c : word.substr(symbol.begin, symbol.bytes)) {
      const TokenId id = byte_tokens_[static_cast<std::uint8_t>(c)];
      if (id != kNoToken) ids.push_back(id);
    }
  }
}

std::string SpmModel::bytes_of(TokenId id) const {
  std::string text(vocabulary_.text(id));
  if (vocabulary_.type(id) == TokenType::byte) return {static_cast<char>(parse_byte_token(text).value_or(0))};
  replace_all(text, kSpaceMark, " ");
  return text;
}

}  // namespace layerstream

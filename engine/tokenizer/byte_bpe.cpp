// SPDX-License-Identifier: MIT
// Works on bytes: the printable stand-ins of the byte alphabet occur only in token texts. A byte that has no
// token is left out of the result, as there is nothing that could express it.

#include "tokenizer/byte_bpe.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "gguf/message_text.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normalization.h"

namespace layerstream {
namespace {

using gguf::join;
using gguf::quoted;

constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";

}  // namespace

Result<ByteBpeModel::ChosenPreTokenizer> ByteBpeModel::choose_pre_tokenizer(const gguf::Metadata& metadata,
                                                                            std::size_t vocab_size, std::string_view asked) {
  const auto in_file = LS_TRY(metadata.get_string("tokenizer.ggml.pre"));
  if (asked.empty() && !in_file) {
    if (const PreTokenizer* guessed = guess_pre_tokenizer(vocab_size)) {
      return ChosenPreTokenizer{guessed, "guessed by the vocabulary size: the file names none"};
    }
    return ChosenPreTokenizer{find_pre_tokenizer("default"), "the fallback: the file names none"};
  }
  const std::string_view name = asked.empty() ? *in_file : asked;
  if (const PreTokenizer* found = find_pre_tokenizer(name)) {
    return ChosenPreTokenizer{found, asked.empty() ? "the file" : "the caller"};
  }
  return fail(ErrorCode::unsupported_tokenizer, join("pre-tokenizer ", quoted(name), " is not implemented; one of these can be asked for "
                                                     "instead: ", pre_tokenizer_names()));
}

Result<std::unique_ptr<ByteBpeModel>> ByteBpeModel::create(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                                           std::string_view pre_tokenizer) {
  const ChosenPreTokenizer chosen = LS_TRY(choose_pre_tokenizer(metadata, vocabulary.size(), pre_tokenizer));
  std::unique_ptr<ByteBpeModel> model(new ByteBpeModel(vocabulary, chosen));
  for (std::size_t byte = 0; byte < model->byte_tokens_.size(); ++byte) {
    const auto as_char = static_cast<char>(byte);
    std::string text;
    byte_alphabet::append_encoded(text, {&as_char, 1});
    model->byte_tokens_[byte] = vocabulary.find_plain(text);
  }
  LS_CHECK(model->read_rules(metadata));
  return model;
}

// A rule whose parts or result are not tokens that text may become could never lead to one: it is left out.
// Of two rules for one pair the first counts.
Result<void> ByteBpeModel::read_rules(const gguf::Metadata& metadata) {
  const auto merges = LS_TRY(metadata.get_string_array(kMergesKey));
  if (!merges) return fail(ErrorCode::missing_key, join(kMergesKey, " is missing"));
  if (merges->size() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::bad_value, join(kMergesKey, " has ", merges->size(), " entries"));
  }
  rules_.reserve(merges->size());
  std::string joined;
  for (std::size_t rank = 0; rank < merges->size(); ++rank) {
    const std::string_view merge = (*merges)[rank];
    const std::size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) {
      return fail(ErrorCode::bad_value,
                  join(kMergesKey, "[", rank, "] is ", quoted(merge), ", not two texts"));
    }
    joined.assign(merge.substr(0, space)).append(merge.substr(space + 1));
    const TokenId left = vocabulary_.find_plain(merge.substr(0, space));
    const TokenId right = vocabulary_.find_plain(merge.substr(space + 1));
    const TokenId result = vocabulary_.find_plain(joined);
    if (left == kNoToken || right == kNoToken || result == kNoToken) continue;
    rules_.push_back({left, right, static_cast<std::uint32_t>(rank), result});
  }
  const auto pair_of = [](const Rule& rule) { return std::pair(rule.left, rule.right); };
  std::ranges::sort(rules_, {}, [](const Rule& rule) { return std::tuple(rule.left, rule.right, rule.rank); });
  const auto repeated = std::ranges::unique(rules_, {}, pair_of);
  rules_.erase(repeated.begin(), repeated.end());

  rule_starts_.assign(vocabulary_.size() + 1, 0);
  for (const Rule& rule : rules_) ++rule_starts_[static_cast<std::size_t>(rule.left) + 1];
  for (std::size_t i = 1; i < rule_starts_.size(); ++i) rule_starts_[i] += rule_starts_[i - 1];
  return {};
}

std::optional<Merge> ByteBpeModel::find_merge(TokenId left, TokenId right) const {
  if (left == kNoToken || right == kNoToken) return std::nullopt;
  const auto begin = rules_.begin() + rule_starts_[static_cast<std::size_t>(left)];
  const auto end = rules_.begin() + rule_starts_[static_cast<std::size_t>(left) + 1];
  const auto at = std::ranges::lower_bound(begin, end, right, {}, &Rule::right);
  if (at == end || at->right != right) return std::nullopt;
  return Merge{at->rank, at->result};
}

void ByteBpeModel::encode(std::string_view text, bool /*at_start*/, std::vector<TokenId>& ids, EncodeState& state) const {
  std::string composed;
  if (pre_tokenizer_.rules->composes) text = composed = unicode::to_nfc(text);
  for (const std::uint32_t bytes : split_pieces(*pre_tokenizer_.rules, text)) {
    const std::string_view piece = text.substr(0, bytes);
    state.words.append(piece, ids, [&] { encode_piece(piece, ids, state); });
    text.remove_prefix(bytes);
  }
}

void ByteBpeModel::encode_piece(std::string_view piece, std::vector<TokenId>& ids, EncodeState& state) const {
  if (pre_tokenizer_.rules->whole_piece_first) {
    std::string printable;
    byte_alphabet::append_encoded(printable, piece);
    if (const TokenId whole = vocabulary_.find_plain(printable); whole != kNoToken) {
      ids.push_back(whole);
      return;
    }
  }
  std::vector<Symbol>& symbols = state.symbols;
  symbols.clear();
  for (std::size_t i = 0; i < piece.size(); ++i) {
    symbols.push_back({i, 1, byte_tokens_[static_cast<std::uint8_t>(piece[i])]});
  }
  const auto find = [this](const Symbol& left, const Symbol& right) { return find_merge(left.id, right.id); };
  state.merges.merge(symbols, find, state.work);
  for (const Symbol& symbol : symbols) {
    if (symbol.id != kNoToken) ids.push_back(symbol.id);
  }
}

std::string ByteBpeModel::bytes_of(TokenId id) const { return byte_alphabet::decoded(vocabulary_.text(id)); }

}  // namespace layerstream

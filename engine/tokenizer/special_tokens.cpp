// SPDX-License-Identifier: MIT
// GGUF keeps one end-of-text id, models often have several; the list of texts below makes up for that.

#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <array>
#include <optional>

namespace layerstream {
namespace {

// Texts that end a turn or a text, in whichever vocabulary they occur.
constexpr std::array<std::string_view, 20> kEndTexts = {
    "<|eot_id|>", "<|eot|>", "<|eom|>", "<|EOT|>", "<|END_OF_TURN_TOKEN|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>",
    "<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>", "</s>",
    "<\xEF\xBD\x9C" "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
};

// A chat answer that arrives at one of these has gone astray into a code model's file format.
constexpr std::array<std::string_view, 3> kFileTexts = {"<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"};
constexpr std::array<std::string_view, 3> kFileKeys = {
    "tokenizer.ggml.fim_pad_token_id", "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id"};

bool wrapped(std::string_view text, std::string_view open, std::string_view close) {
  return text.size() > open.size() + close.size() && text.starts_with(open) && text.ends_with(close);
}

Result<std::optional<TokenId>> read_id(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                       std::string_view key, TokenId default_id) {
  std::int64_t id = default_id;
  // Unsigned first: 2^64 - 1 is a spelling of "none", not a wrong type.
  const auto as_unsigned = metadata.get_uint(key);
  if (as_unsigned) {
    if (*as_unsigned) id = **as_unsigned > 0x7fffffffu ? kNoToken : static_cast<std::int64_t>(**as_unsigned);
  } else {
    id = LS_TRY(metadata.get_int(key)).value_or(default_id);
  }
  if (!vocabulary.contains(id)) return std::optional<TokenId>();
  return std::optional<TokenId>(static_cast<TokenId>(id));
}

void add_id(std::vector<TokenId>& ids, std::optional<TokenId> id) {
  if (id) ids.push_back(*id);
}

void add_text(std::vector<TokenId>& ids, const Vocabulary& vocabulary, std::string_view text) {
  const TokenId id = vocabulary.find(text);
  if (id != kNoToken) ids.push_back(id);
}

bool is_html_only(const Vocabulary& vocabulary, std::string_view text) {
  return text == "</s>" && vocabulary.find("<eos>") != kNoToken;
}

// In a vocabulary with <|return|> and <|call|> (harmony), <|end|> only ends one message of several.
void add_end_texts(std::vector<TokenId>& ids, const Vocabulary& vocabulary) {
  const bool harmony = vocabulary.find("<|return|>") != kNoToken && vocabulary.find("<|call|>") != kNoToken;
  for (const std::string_view text : kEndTexts) {
    if (harmony && text == "<|end|>") continue;
    if (!is_html_only(vocabulary, text)) add_text(ids, vocabulary, text);
  }
  for (const std::string_view text : kFileTexts) add_text(ids, vocabulary, text);
}

}  // namespace

bool looks_special(const Vocabulary& vocabulary, std::string_view text) {
  if (wrapped(text, "<|", "|>") || wrapped(text, "<\xEF\xBD\x9C", "\xEF\xBD\x9C>")) return true;
  if (text == "<pad>" || text == "<mask>") return true;
  if (wrapped(text, "<unused", ">")) {
    const std::string_view number = text.substr(7, text.size() - 8);
    if (number.find_first_not_of("0123456789") == std::string_view::npos) return true;
  }
  return std::ranges::find(kEndTexts, text) != kEndTexts.end() && !is_html_only(vocabulary, text);
}

Result<SpecialTokens> read_special_tokens(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                          const SpecialDefaults& defaults) {
  const auto id_of = [&](std::string_view key, TokenId default_id) { return read_id(metadata, vocabulary, key, default_id); };
  SpecialTokens special;
  special.bos = LS_TRY(id_of("tokenizer.ggml.bos_token_id", defaults.bos));
  special.eos = LS_TRY(id_of("tokenizer.ggml.eos_token_id", defaults.eos));
  special.eot = LS_TRY(id_of("tokenizer.ggml.eot_token_id", kNoToken));
  special.eom = LS_TRY(id_of("tokenizer.ggml.eom_token_id", kNoToken));
  special.unk = LS_TRY(id_of("tokenizer.ggml.unknown_token_id", defaults.unk));
  special.pad = LS_TRY(id_of("tokenizer.ggml.padding_token_id", kNoToken));
  special.add_bos = LS_TRY(metadata.get_bool("tokenizer.ggml.add_bos_token")).value_or(defaults.add_bos);
  special.add_eos = LS_TRY(metadata.get_bool("tokenizer.ggml.add_eos_token")).value_or(false);

  std::vector<TokenId>& ends = special.end_of_generation;
  add_id(ends, special.eos);
  add_id(ends, special.eot);
  add_id(ends, special.eom);
  for (const std::string_view key : kFileKeys) add_id(ends, LS_TRY(id_of(key, kNoToken)));
  const auto more = LS_TRY(metadata.get_int_array("tokenizer.ggml.eos_token_ids"));
  for (const std::int64_t id : more.value_or(std::vector<std::int64_t>())) {
    if (vocabulary.contains(id)) ends.push_back(static_cast<TokenId>(id));
  }
  add_end_texts(ends, vocabulary);
  std::ranges::sort(ends);
  const auto repeated = std::ranges::unique(ends);
  ends.erase(repeated.begin(), repeated.end());
  return special;
}

}  // namespace layerstream

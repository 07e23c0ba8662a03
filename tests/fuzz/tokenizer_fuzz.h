#pragma once
// SPDX-License-Identifier: MIT
// What must hold for the tokenizer whatever the file and the text are. Called by the libFuzzer program
// (tokenizer_fuzz.cpp) and, over seeded mutations, by the unit tests. Memory errors are the sanitizers' business.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gguf_fuzz.h"
#include "tokenizer/tokenizer.h"
#include "base/utf8.h"

namespace layerstream::test {

[[nodiscard]] inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const utf8::Unit unit = utf8::next_unit(text);
    if (unit.kind != utf8::UnitKind::valid) return false;
    text.remove_prefix(unit.bytes);
  }
  return true;
}

[[nodiscard]] inline std::string check_special(const Tokenizer& tokenizer) {
  const SpecialTokens& special = tokenizer.special();
  const auto size = static_cast<std::int64_t>(tokenizer.vocab_size());
  for (const auto& id : {special.bos, special.eos, special.eot, special.eom, special.unk, special.pad}) {
    if (id && (*id < 0 || *id >= size)) return "a special id outside the vocabulary: " + std::to_string(*id);
  }
  const std::vector<TokenId>& ends = special.end_of_generation;
  if (std::ranges::adjacent_find(ends, std::ranges::greater_equal()) != ends.end()) return "end ids out of order";
  for (const TokenId id : ends) {
    if (id < 0 || id >= size || !tokenizer.is_end_of_generation(id)) return "a wrong end id: " + std::to_string(id);
  }
  return "";
}

// One text with one set of options.
[[nodiscard]] inline std::string check_text(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options) {
  const std::vector<TokenId> ids = tokenizer.encode(text, options);
  if (ids.size() > 3 * text.size() + 5) return std::to_string(ids.size()) + " ids for " + std::to_string(text.size()) + " bytes";
  const SpecialTokens& special = tokenizer.special();
  for (const TokenId id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= tokenizer.vocab_size()) return "an id outside the vocabulary";
    const bool control = tokenizer.token_type(id) == TokenType::control;
    if (control && !options.parse_special && !options.add_special && id != special.unk) return "text became a control token";
  }
  for (const bool with_control : {false, true}) {
    const std::string whole = tokenizer.decode(ids, with_control);
    if (!is_utf8(whole)) return "decoded text is not UTF-8";
    std::string joined;
    std::size_t text_begin = 0;  // behind the control tokens in front
    bool in_front = true;
    Utf8Stream stream;
    for (const TokenId id : ids) {
      const std::string bytes = tokenizer.token_bytes(id, with_control);
      in_front = in_front && tokenizer.token_type(id) == TokenType::control;
      if (in_front) text_begin += bytes.size();
      joined += bytes;
    }
    std::string streamed = stream.push(joined);
    streamed += stream.finish();
    if (streamed == whole) continue;
    // The one difference allowed: the space that was put before the text is gone.
    if (tokenizer.kind() != "llama" || joined.size() <= text_begin || joined[text_begin] != ' ') return "decode() differs from the stream";
    std::string without = stream.push(joined.erase(text_begin, 1));
    without += stream.finish();
    if (without != whole) return "decode() takes off more than one space";
  }
  return "";
}

// The whole contract; "" if it holds, otherwise what does not.
[[nodiscard]] inline std::string check_tokenizer_file(std::span<const std::byte> file, std::string_view text) {
  const ParseResult parsed = parse_exact(file, file.size());
  if (!parsed || !std::holds_alternative<gguf::Header>(*parsed)) return "";
  const auto tokenizer = Tokenizer::create(std::get<gguf::Header>(*parsed).metadata());
  if (!tokenizer) return check_error(tokenizer.error());
  if (std::string problem = check_special(**tokenizer); !problem.empty()) return problem;
  for (const bool add_special : {false, true}) {
    for (const bool parse_special : {false, true}) {
      const EncodeOptions options{.add_special = add_special, .parse_special = parse_special};
      if (std::string problem = check_text(**tokenizer, text, options); !problem.empty()) return problem;
    }
  }
  for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{INT32_MIN}, static_cast<std::int64_t>((*tokenizer)->vocab_size())}) {
    if (!(*tokenizer)->token_bytes(static_cast<TokenId>(id), true).empty()) return "bytes for an id outside the vocabulary";
  }
  return "";
}

}  // namespace layerstream::test

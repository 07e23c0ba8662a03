// SPDX-License-Identifier: MIT
#include "cli/json_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/utf8.h"
#include "cli/model_options.h"

namespace layerstream::cli {
namespace {

std::unexpected<Error> not_a_string(std::string_view json) {
  return fail(ErrorCode::bad_argument, "not a JSON string: " + std::string(json.substr(0, 40)));
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<std::uint32_t>(digit);
  }
  return value;
}

// \uXXXX at `at` (behind the u), with its low surrogate if there is one. Advances `at`.
bool append_unicode_escape(std::string_view text, std::size_t& at, std::string& out) {
  auto code = hex4(text, at);
  if (!code) return false;
  at += 4;
  if (*code >= 0xd800 && *code < 0xdc00 && text.substr(at, 2) == "\\u") {
    const auto low = hex4(text, at + 2);
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      at += 6;
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
    }
  }
  utf8::append(out, *code >= 0xd800 && *code < 0xe000 ? 0xfffd : *code);
  return true;
}

}  // namespace

Result<std::string> parse_json_string(std::string_view json) {
  const std::string_view text = trim(json);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return not_a_string(json);
  std::string out;
  for (std::size_t at = 1; at + 1 < text.size();) {
    const char c = text[at++];
    if (c == '"') return not_a_string(json);
    if (c != '\\') {
      out += c;
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char escape = text[at++];
    if (escape == 'u') {
      if (!append_unicode_escape(text.substr(0, text.size() - 1), at, out)) return not_a_string(json);
    } else if (const std::size_t index = kEscapes.find(escape); index != kEscapes.npos && at < text.size()) {
      out += kMeanings[index];
    } else {
      return not_a_string(json);
    }
  }
  return out;
}

Result<std::vector<TokenId>> parse_json_ids(std::string_view json) {
  const std::string_view text = trim(json);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return fail(ErrorCode::bad_argument, "not a JSON array: " + std::string(json.substr(0, 40)));
  std::string plain(text.substr(1, text.size() - 2));
  std::replace(plain.begin(), plain.end(), ',', ' ');
  return parse_ids(plain);
}

}  // namespace layerstream::cli

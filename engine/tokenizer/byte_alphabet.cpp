// SPDX-License-Identifier: MIT
// Both directions by table; all code points of the alphabet have one or two UTF-8 bytes.

#include "tokenizer/byte_alphabet.h"

#include "base/utf8.h"

namespace layerstream::byte_alphabet {
namespace {

constexpr std::size_t kBeyond = 0x144;  // one past the last code point of the alphabet

constexpr auto kBytes = [] {
  std::array<std::int16_t, kBeyond> table{};
  table.fill(-1);
  for (std::size_t byte = 0; byte < kCodePoints.size(); ++byte) table[kCodePoints[byte]] = static_cast<std::int16_t>(byte);
  return table;
}();

}  // namespace

std::optional<std::uint8_t> byte_of(char32_t code_point) {
  if (code_point >= kBytes.size() || kBytes[code_point] < 0) return std::nullopt;
  return static_cast<std::uint8_t>(kBytes[code_point]);
}

void append_encoded(std::string& out, std::string_view bytes) {
  for (const char c : bytes) utf8::append(out, kCodePoints[static_cast<std::uint8_t>(c)]);
}

std::string decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const utf8::Unit unit = utf8::next_unit(text);
    const auto byte = unit.kind == utf8::UnitKind::valid ? byte_of(unit.code_point) : std::nullopt;
    if (byte) {
      out += static_cast<char>(*byte);
    } else {
      out += text.substr(0, unit.bytes);
    }
    text.remove_prefix(unit.bytes);
  }
  return out;
}

}  // namespace layerstream::byte_alphabet

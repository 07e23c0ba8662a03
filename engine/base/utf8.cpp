// SPDX-License-Identifier: MIT
// Well-formedness follows the table of legal byte ranges of the Unicode standard (table 3-7): only the
// second byte's range depends on the first.

#include "base/utf8.h"

namespace layerstream::utf8 {
namespace {

struct Lead {
  std::uint32_t bytes = 0;  // of the whole sequence; 0: no sequence begins with this byte
  std::uint8_t second_low = 0x80;
  std::uint8_t second_high = 0xBF;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {.bytes = 1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {.bytes = 2};
  if (byte == 0xE0) return {.bytes = 3, .second_low = 0xA0};
  if (byte == 0xED) return {.bytes = 3, .second_high = 0x9F};  // no surrogates
  if (byte < 0xF0) return {.bytes = 3};
  if (byte == 0xF0) return {.bytes = 4, .second_low = 0x90};
  if (byte < 0xF4) return {.bytes = 4};
  if (byte == 0xF4) return {.bytes = 4, .second_high = 0x8F};
  return {};
}

}  // namespace

Unit next_unit(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text[0]);
  const Lead lead = lead_of(first);
  if (lead.bytes == 0) return {};
  if (lead.bytes == 1) return {.kind = UnitKind::valid, .bytes = 1, .code_point = first};

  char32_t code_point = first & (0x7Fu >> lead.bytes);
  for (std::uint32_t i = 1; i < lead.bytes; ++i) {
    if (i == text.size()) return {.kind = UnitKind::incomplete, .bytes = i};
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const bool legal = i == 1 ? byte >= lead.second_low && byte <= lead.second_high : (byte & 0xC0) == 0x80;
    if (!legal) return {.kind = UnitKind::invalid, .bytes = i};
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  return {.kind = UnitKind::valid, .bytes = lead.bytes, .code_point = code_point};
}

void append(std::string& out, char32_t code_point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80u | ((code_point >> shift) & 0x3Fu)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0u | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0u | (code_point >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0u | (code_point >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace layerstream::utf8

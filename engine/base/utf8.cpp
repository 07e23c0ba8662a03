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

}  // namespace layerstream::utf8

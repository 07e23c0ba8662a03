#pragma once
// SPDX-License-Identifier: MIT
// The printable stand-ins of byte-level BPE: every byte has one code point below U+0144, so that token texts are
// readable. Bytes 33-126, 161-172 and 174-255 stand for themselves; the other 68 are U+0100 upward in byte order.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace layerstream::byte_alphabet {

[[nodiscard]] constexpr bool stands_for_itself(std::uint32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

inline constexpr std::array<char32_t, 256> kCodePoints = [] {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) table[byte] = stands_for_itself(byte) ? byte : next++;
  return table;
}();

// The byte a code point stands for; nothing for code points outside the alphabet.
[[nodiscard]] std::optional<std::uint8_t> byte_of(char32_t code_point);
// Appends the stand-in of each byte, as UTF-8.
void append_encoded(std::string& out, std::string_view bytes);
// The way back. What is not in the alphabet is kept as it is.
[[nodiscard]] std::string decoded(std::string_view text);

}  // namespace layerstream::byte_alphabet

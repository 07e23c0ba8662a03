// SPDX-License-Identifier: MIT
// See message_text.h.

#include "gguf/message_text.h"

namespace layerstream::gguf {

std::string quoted(std::string_view text) {
  constexpr std::size_t kShownBytes = 80;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\' && c != '\'') {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15u];
    }
  }
  out += '\'';
  if (text.size() > kShownBytes) out += "... (" + std::to_string(text.size()) + " bytes)";
  return out;
}

std::string dims_text(const std::uint64_t* dims, std::uint32_t n_dims) {
  std::string out = "[";
  for (std::uint32_t i = 0; i < n_dims; ++i) {
    if (i != 0) out += ',';
    out += std::to_string(dims[i]);
  }
  return out + "]";
}

}  // namespace layerstream::gguf

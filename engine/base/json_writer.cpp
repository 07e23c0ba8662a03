// SPDX-License-Identifier: MIT
#include "base/json_writer.h"

#include "base/utf8.h"

namespace layerstream {

void JsonWriter::quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      const std::size_t length = utf8_sequence_length(text.substr(i));
      text_ += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(i, length);
      i += length == 0 ? 1 : length;
      continue;
    }
    if (byte == '"' || byte == '\\') {
      text_ += '\\';
      text_ += static_cast<char>(byte);
    } else if (byte == '\n') {
      text_ += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 15];
    } else {
      text_ += static_cast<char>(byte);
    }
    ++i;
  }
  text_ += '"';
}

}  // namespace layerstream

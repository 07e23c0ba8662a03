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
      const utf8::Unit unit = utf8::next_unit(text.substr(i));
      text_ += unit.kind == utf8::UnitKind::valid ? text.substr(i, unit.bytes) : utf8::kReplacement;
      i += unit.bytes;
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

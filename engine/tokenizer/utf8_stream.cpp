// SPDX-License-Identifier: MIT
#include <string>

#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace layerstream {

std::string Utf8Stream::push(std::string_view bytes) {
  std::string joined;
  if (!pending_.empty()) {
    joined = pending_;
    joined += bytes;
    pending_.clear();
    bytes = joined;
  }
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const utf8::Unit unit = utf8::next_unit(bytes);
    if (unit.kind == utf8::UnitKind::incomplete) {
      pending_ = bytes;
      break;
    }
    text += unit.kind == utf8::UnitKind::valid ? bytes.substr(0, unit.bytes) : utf8::kReplacement;
    bytes.remove_prefix(unit.bytes);
  }
  return text;
}

std::string Utf8Stream::finish() {
  const bool was_pending = !pending_.empty();
  pending_.clear();
  return std::string(was_pending ? utf8::kReplacement : std::string_view());
}

}  // namespace layerstream

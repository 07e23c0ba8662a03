#pragma once
// SPDX-License-Identifier: MIT
// Writes one JSON document into a string. Commas are its business, nesting is the caller's.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace layerstream {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    separate();
    quote(name);
    text_ += ':';
    first_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) {
    separate();
    quote(text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  // Shortest form that reads back to the same number; NaN and infinities become null.
  template <typename T>
    requires std::is_arithmetic_v<T>
  JsonWriter& value(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!(number - number == 0)) return null();
    }
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
    return raw(std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
  }
  template <typename T>
  JsonWriter& field(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  JsonWriter& raw(std::string_view text) {
    separate();
    text_ += text;
    return *this;
  }
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  // Strings of a file need not be UTF-8: bytes that are not become U+FFFD, so that the document always parses.
  void quote(std::string_view text);

  std::string text_;
  bool first_ = true;
};

}  // namespace layerstream

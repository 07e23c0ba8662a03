#pragma once
// SPDX-License-Identifier: MIT
// A small JSON reader for test data. Strict (RFC 8259) but for limits: numbers are doubles, nesting up to 200.
//
//   const std::optional<Json> file = Json::parse(text);      // nullopt: not JSON
//   for (const Json& c : file->at("cases").array()) c.at("ids").ints();
//
// Asking a value for what it is not (array() of a number, at() of an absent key) gives an empty value: a test
// that then compares fails by itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace layerstream::test {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;
  explicit Json(std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value) : value_(std::move(value)) {}

  [[nodiscard]] static std::optional<Json> parse(std::string_view text);
  // nullopt also if the file cannot be read.
  [[nodiscard]] static std::optional<Json> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return parse(std::string(std::istreambuf_iterator<char>(file), {}));
  }

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] bool boolean() const { return get<bool>(); }
  [[nodiscard]] double number() const { return get<double>(); }
  [[nodiscard]] const std::string& string() const { return get<std::string>(); }
  [[nodiscard]] const Array& array() const { return get<Array>(); }
  [[nodiscard]] const Object& object() const { return get<Object>(); }

  [[nodiscard]] bool has(std::string_view key) const { return object().contains(key); }
  [[nodiscard]] const Json& at(std::string_view key) const {
    static const Json null;
    const auto found = object().find(key);
    return found == object().end() ? null : found->second;
  }

  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> out;
    for (const Json& item : array()) out.push_back(item.number());
    return out;
  }
  [[nodiscard]] std::vector<std::int32_t> ints() const {
    std::vector<std::int32_t> out;
    for (const Json& item : array()) out.push_back(static_cast<std::int32_t>(item.number()));
    return out;
  }

 private:
  template <typename T>
  [[nodiscard]] const T& get() const {
    static const T empty{};
    const T* held = std::get_if<T>(&value_);
    return held != nullptr ? *held : empty;
  }

  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_ = nullptr;
};

namespace json_detail {

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<Json> document() {
    std::optional<Json> value = parse_value(0);
    skip_space();
    return rest_.empty() ? std::move(value) : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 200;

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool take_after_space(std::string_view token) {
    skip_space();
    return take(token);
  }

  std::optional<Json> parse_value(int depth) {
    skip_space();
    if (rest_.empty() || depth > kMaxDepth) return std::nullopt;
    if (take("null")) return Json(nullptr);
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (take("[")) return parse_array(depth);
    if (take("{")) return parse_object(depth);
    if (rest_.front() == '"') {
      std::optional<std::string> text = parse_string();
      if (!text) return std::nullopt;
      return Json(std::move(*text));
    }
    return parse_number();
  }

  std::optional<Json> parse_array(int depth) {
    Json::Array items;
    if (take_after_space("]")) return Json(std::move(items));
    do {
      std::optional<Json> item = parse_value(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    } while (take_after_space(","));
    if (!take_after_space("]")) return std::nullopt;
    return Json(std::move(items));
  }

  std::optional<Json> parse_object(int depth) {
    Json::Object members;
    if (take_after_space("}")) return Json(std::move(members));
    do {
      skip_space();
      std::optional<std::string> key = parse_string();
      if (!key || !take_after_space(":")) return std::nullopt;
      std::optional<Json> value = parse_value(depth + 1);
      if (!value) return std::nullopt;
      members[std::move(*key)] = std::move(*value);
    } while (take_after_space(","));
    if (!take_after_space("}")) return std::nullopt;
    return Json(std::move(members));
  }

  // -? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?
  std::optional<Json> parse_number() {
    std::size_t at = 0;
    const auto is_digit = [&] { return at < rest_.size() && rest_[at] >= '0' && rest_[at] <= '9'; };
    const auto one_of = [&](std::string_view set) { return at < rest_.size() && set.find(rest_[at]) != std::string_view::npos; };
    const auto digits = [&] {
      const std::size_t begin = at;
      while (is_digit()) ++at;
      return at > begin;
    };
    if (one_of("-")) ++at;
    if (one_of("0")) {
      ++at;
    } else if (!digits()) {
      return std::nullopt;
    }
    if (one_of(".") && (++at, !digits())) return std::nullopt;
    if (one_of("eE")) {
      ++at;
      if (one_of("+-")) ++at;
      if (!digits()) return std::nullopt;
    }
    const std::string number(rest_.substr(0, at));
    rest_.remove_prefix(at);
    return Json(std::strtod(number.c_str(), nullptr));
  }

  std::optional<std::string> parse_string() {
    if (!take("\"")) return std::nullopt;
    std::string out;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      if (c != '\\') {
        out += c;
      } else if (!parse_escape(out)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool parse_escape(std::string& out) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (const std::size_t at = kNames.find(c); at != std::string_view::npos) {
      out += kValues[at];
      return true;
    }
    if (c != 'u') return false;
    std::optional<char32_t> code = parse_hex4();
    if (code && *code >= 0xD800 && *code < 0xDC00 && take("\\u")) {
      const std::optional<char32_t> low = parse_hex4();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (!code) return false;
    append_utf8(out, *code);  // a lone surrogate comes out as three bytes that are not UTF-8
    return true;
  }

  std::optional<char32_t> parse_hex4() {
    if (rest_.size() < 4) return std::nullopt;
    char32_t code = 0;
    for (const char c : rest_.substr(0, 4)) {
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      code = code * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
    }
    rest_.remove_prefix(4);
    return code;
  }

  static void append_utf8(std::string& out, char32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
      return;
    }
    const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
    out += static_cast<char>(kLead[tail] | (code >> (6 * tail)));
    for (int i = tail - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
  }

  std::string_view rest_;
};

}  // namespace json_detail

inline std::optional<Json> Json::parse(std::string_view text) { return json_detail::Parser(text).document(); }

}  // namespace layerstream::test

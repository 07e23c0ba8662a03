#pragma once
// SPDX-License-Identifier: MIT
// What the splitters are written with. In their comments: L letter, N number, M mark, P punctuation, S white space, "_"
// the space character; alternatives are tried from left to right and each takes as much as it can, as the published
// expressions do.

#include <algorithm>
#include <span>

#include "tokenizer/pretokenizers.h"
#include "tokenizer/unicode.h"

namespace layerstream::splitters {

using Text = std::span<const CodePoint>;

inline bool has(Text text, std::size_t at, unicode::Classes classes) {
  return at < text.size() && (text[at].classes & classes) != 0;
}
inline bool is(Text text, std::size_t at, char32_t value) { return at < text.size() && text[at].value == value; }
inline bool is_between(Text text, std::size_t at, char32_t first, char32_t last) {
  return at < text.size() && text[at].value >= first && text[at].value <= last;
}
inline bool is_line_end(Text text, std::size_t at) { return is(text, at, '\r') || is(text, at, '\n'); }

// The end of the run from `at` on for whose places `predicate(text, place)` holds.
template <typename Predicate>
std::size_t run_end(Text text, std::size_t at, const Predicate& predicate) {
  while (at < text.size() && predicate(text, at)) ++at;
  return at;
}
inline std::size_t class_run_end(Text text, std::size_t at, unicode::Classes classes) {
  while (has(text, at, classes)) ++at;
  return at;
}

// At most `most` of them.
inline std::size_t class_run_end(Text text, std::size_t at, unicode::Classes classes, std::size_t most) {
  return class_run_end(text.first(std::min(text.size(), at + most)), at, classes);
}

// X+ | everything between, X being where `predicate` holds.
template <typename Predicate>
std::size_t split_runs(Text text, std::size_t at, const Predicate& predicate) {
  const bool inside = predicate(text, at);
  return run_end(text, at, [&](Text t, std::size_t i) { return predicate(t, i) == inside; });
}

// X | everything between.
template <typename Predicate>
std::size_t split_singles(Text text, std::size_t at, const Predicate& predicate) {
  if (predicate(text, at)) return at + 1;
  return run_end(text, at, [&](Text t, std::size_t i) { return !predicate(t, i); });
}

// A?X+ | everything between.
template <typename Lead, typename Predicate>
std::size_t split_led_runs(Text text, std::size_t at, const Lead& lead, const Predicate& predicate) {
  const auto matches = [&](Text t, std::size_t i) {
    return predicate(t, i) || (lead(t, i) && i + 1 < t.size() && predicate(t, i + 1));
  };
  if (matches(text, at)) return run_end(text, predicate(text, at) ? at : at + 1, predicate);
  return run_end(text, at, [&](Text t, std::size_t i) { return !matches(t, i); });
}

// S*[\r\n]+ | S+(?!\S) | S+: a run of white space is cut behind its last line end; without one it leaves its last
// character to the word behind it. `at` if there is no white space.
inline std::size_t space_end(Text text, std::size_t at) {
  const std::size_t end = class_run_end(text, at, unicode::kSpace);
  return end == text.size() || end - at <= 1 ? end : end - 1;
}
inline std::size_t space_end_after_lines(Text text, std::size_t at) {
  for (std::size_t end = class_run_end(text, at, unicode::kSpace); end > at; --end) {
    if (is_line_end(text, end - 1)) return end;
  }
  return space_end(text, at);
}

}  // namespace layerstream::splitters

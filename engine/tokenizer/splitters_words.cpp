// SPDX-License-Identifier: MIT
// GPT-2's expression and its descendants. Notation: splitter_text.h.

#include "tokenizer/splitter_text.h"
#include "tokenizer/splitters.h"

namespace layerstream::splitters {
namespace {

using namespace unicode;

// Neither white space nor letter nor number: punctuation, symbols, marks, controls.
bool is_other(Text text, std::size_t at) { return at < text.size() && !has(text, at, kSpace | kLetter | kNumber); }

// 's 't 're 've 'm 'll 'd. Returns `at` if there is none.
std::size_t contraction_end(Text text, std::size_t at, bool any_case) {
  if (!is(text, at, '\'')) return at;
  const auto letter = [&](std::size_t i) -> char32_t {
    if (i >= text.size()) return 0;
    const char32_t value = text[i].value;
    return any_case && value >= 'A' && value <= 'Z' ? value + ('a' - 'A') : value;
  };
  const char32_t first = letter(at + 1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  const char32_t second = letter(at + 2);
  const bool pair = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return pair ? at + 3 : at;
}

struct WordRules {
  std::size_t digits;
  bool others_take_lines;
};

// (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\nLN]?L+ | N{1,digits} | _?[^SLN]+[\r\n]* | S*[\r\n]+ | S+(?!\S) | S+
std::size_t words(Text text, std::size_t at, WordRules rules) {
  if (const std::size_t end = contraction_end(text, at, true); end > at) return end;
  if (has(text, at, kLetter)) return class_run_end(text, at, kLetter);
  if (has(text, at, kNumber)) return class_run_end(text, at, kNumber, rules.digits);
  if (!is_line_end(text, at) && has(text, at + 1, kLetter)) return class_run_end(text, at + 1, kLetter);
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (is_other(text, start)) {
    const std::size_t end = run_end(text, start, is_other);
    return rules.others_take_lines ? run_end(text, end, is_line_end) : end;
  }
  return space_end_after_lines(text, at);
}

// Letters that may stand before, and after, the point where a word turns to lower case. Letters without case
// and marks are both.
bool is_upper_side(Text text, std::size_t at) { return has(text, at, kMark) || (has(text, at, kLetter) && !has(text, at, kLower)); }
bool is_lower_side(Text text, std::size_t at) { return has(text, at, kMark) || (has(text, at, kLetter) && !has(text, at, kUpper)); }

// U*W+ from `at` (U upper side, W lower side); `at` if it does not match.
std::size_t lower_word_end(Text text, std::size_t at) {
  const std::size_t upper_end = run_end(text, at, is_upper_side);
  if (is_lower_side(text, upper_end)) return run_end(text, upper_end, is_lower_side);
  // U* gives characters back until W+ finds one that is on both sides.
  for (std::size_t end = upper_end; end > at; --end) {
    if (is_lower_side(text, end - 1)) return end;
  }
  return at;
}

// [^\r\nLN]?U*W+ | [^\r\nLN]?U+W*; `at` if neither matches. W* is empty whenever the second is reached.
std::size_t cased_word_end(Text text, std::size_t at) {
  const bool may_lead = !is_line_end(text, at) && !has(text, at, kLetter | kNumber);
  for (const auto word_end : {lower_word_end, +[](Text t, std::size_t i) { return run_end(t, i, is_upper_side); }}) {
    if (may_lead) {
      if (const std::size_t end = word_end(text, at + 1); end > at + 1) return end;
    }
    if (const std::size_t end = word_end(text, at); end > at) return end;
  }
  return at;
}

struct CasedRules {
  std::size_t digits;
  bool takes_contraction;  // a word takes the contraction behind it along
};

// [^\r\nLN]?U*W+ | [^\r\nLN]?U+W* | N{1,digits} | _?[^SLN]+[\r\n/]* | S*[\r\n]+ | S+(?!\S) | S+
std::size_t cased_words(Text text, std::size_t at, CasedRules rules) {
  if (const std::size_t end = cased_word_end(text, at); end > at) {
    return rules.takes_contraction ? contraction_end(text, end, true) : end;
  }
  if (has(text, at, kNumber)) return class_run_end(text, at, kNumber, rules.digits);
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (is_other(text, start)) {
    const auto closes = [](Text t, std::size_t i) { return is_line_end(t, i) || is(t, i, '/'); };
    return run_end(text, run_end(text, start, is_other), closes);
  }
  return space_end_after_lines(text, at);
}

}  // namespace

// 's|'t|'re|'ve|'m|'ll|'d | _?L+ | _?N+ | _?[^SLN]+ | S+(?!\S) | S+
std::size_t gpt2(Text text, std::size_t at) {
  if (const std::size_t end = contraction_end(text, at, false); end > at) return end;
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (has(text, start, kLetter)) return class_run_end(text, start, kLetter);
  if (has(text, start, kNumber)) return class_run_end(text, start, kNumber);
  if (is_other(text, start)) return run_end(text, start, is_other);
  return space_end(text, at);
}

std::size_t llama3(Text text, std::size_t at) { return words(text, at, {.digits = 3, .others_take_lines = true}); }
std::size_t qwen2(Text text, std::size_t at) { return words(text, at, {.digits = 1, .others_take_lines = true}); }
std::size_t seed_coder(Text text, std::size_t at) { return words(text, at, {.digits = 1, .others_take_lines = false}); }
std::size_t tekken(Text text, std::size_t at) { return cased_words(text, at, {.digits = 1, .takes_contraction = false}); }
std::size_t gpt4o(Text text, std::size_t at) { return cased_words(text, at, {.digits = 3, .takes_contraction = true}); }

}  // namespace layerstream::splitters

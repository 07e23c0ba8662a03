// SPDX-License-Identifier: MIT
// The links of chains, such as DeepSeek's. Notation: splitter_text.h.

#include <string_view>

#include "tokenizer/splitter_text.h"
#include "tokenizer/splitters.h"

namespace layerstream::splitters {
namespace {

using namespace unicode;

template <Classes classes>
bool in_class(Text text, std::size_t at) { return has(text, at, classes); }

bool is_digit(Text text, std::size_t at) { return is_between(text, at, '0', '9'); }
bool is_three_digits(Text text, std::size_t at) { return is_digit(text, at) && is_digit(text, at + 1) && is_digit(text, at + 2); }

bool is_cased(Text text, std::size_t at) { return at < text.size() && is_cased_script_letter(text[at].value); }

// [!-/:-~ and their full-width forms, quotation marks, ideographic space to full stop]. It holds ASCII letters too.
bool is_listed_mark(Text text, std::size_t at) {
  return is_between(text, at, '!', '/') || is_between(text, at, ':', '~') || is_between(text, at, 0xFF01, 0xFF0F) ||
         is_between(text, at, 0xFF1A, 0xFF5E) || is_between(text, at, 0x2018, 0x201F) || is_between(text, at, 0x3000, 0x3002);
}

// Two ranges that meet in U+4E00, so everything between U+0800 and U+9FA5; and Hangul to the end of its block.
bool is_han_hangul(Text text, std::size_t at) { return is_between(text, at, 0x800, 0x9FA5) || is_between(text, at, 0xAC00, 0xD7FF); }
bool is_han_kana(Text text, std::size_t at) { return is_between(text, at, 0x4E00, 0x9FA5) || is_between(text, at, 0x3040, 0x30FF); }

bool is_one_of(Text text, std::size_t at, std::u32string_view set) {
  return at < text.size() && set.find(text[at].value) != std::u32string_view::npos;
}
bool is_default_mark(Text text, std::size_t at) { return has(text, at, kPunctuation) || is_one_of(text, at, U"$+<=>^~|"); }
bool is_falcon_mark(Text text, std::size_t at) { return is_default_mark(text, at) || is(text, at, '`'); }

bool is_viking_word(Text text, std::size_t at) {
  return at < text.size() && !has(text, at, kSpace) && !is_one_of(text, at, U"(|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)");
}

bool is_ascii_letter(Text text, std::size_t at) { return is_between(text, at, 'A', 'Z') || is_between(text, at, 'a', 'z'); }
bool is_ascii_mark(Text text, std::size_t at) {
  return is_between(text, at, '!', '~') && !is_ascii_letter(text, at) && !is_digit(text, at);
}

// [ASCII mark][A-Za-z]+ | [^\r\nLPY]?[LM]+ | _?[PY]+[\r\n]* | S*[\r\n]+ | S+(?!\S) | S+, Y being symbols. `at` if none matches.
std::size_t deepseek_v3_end(Text text, std::size_t at) {
  if (is_ascii_mark(text, at) && is_ascii_letter(text, at + 1)) return run_end(text, at + 1, is_ascii_letter);
  if (has(text, at, kLetter | kMark)) return class_run_end(text, at, kLetter | kMark);
  const bool may_lead = !is_line_end(text, at) && !has(text, at, kPunctuation | kSymbol);
  if (may_lead && has(text, at + 1, kLetter | kMark)) return class_run_end(text, at + 1, kLetter | kMark);
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (has(text, start, kPunctuation | kSymbol)) {
    return run_end(text, class_run_end(text, start, kPunctuation | kSymbol), is_line_end);
  }
  return space_end_after_lines(text, at);
}

}  // namespace

std::size_t numbers(Text text, std::size_t at) { return split_runs(text, at, in_class<kNumber>); }
std::size_t single_numbers(Text text, std::size_t at) { return split_singles(text, at, in_class<kNumber>); }
std::size_t three_numbers(Text text, std::size_t at) {
  return has(text, at, kNumber) ? class_run_end(text, at, kNumber, 3) : numbers(text, at);
}
std::size_t three_digits(Text text, std::size_t at) {
  if (is_three_digits(text, at)) return at + 3;
  return run_end(text, at, [](Text t, std::size_t i) { return !is_three_digits(t, i); });
}
std::size_t single_lines(Text text, std::size_t at) { return split_singles(text, at, is_line_end); }

// Called once or twice per text: the walk from the end is not repeated for every place.
std::size_t last_spaces(Text text, std::size_t at) {
  std::size_t begin = text.size();
  while (begin > at && has(text, begin - 1, kSpace)) --begin;
  return begin > at ? begin : text.size();
}

std::size_t letters(Text text, std::size_t at) { return split_led_runs(text, at, in_class<kSpace>, in_class<kLetter>); }
std::size_t punctuation(Text text, std::size_t at) { return split_led_runs(text, at, in_class<kSpace>, in_class<kPunctuation>); }
std::size_t cased_letters(Text text, std::size_t at) { return split_led_runs(text, at, in_class<kSpace>, is_cased); }
std::size_t listed_marks(Text text, std::size_t at) { return split_led_runs(text, at, in_class<kSpace>, is_listed_mark); }
std::size_t han_hangul(Text text, std::size_t at) { return split_runs(text, at, is_han_hangul); }
std::size_t han_kana(Text text, std::size_t at) { return split_runs(text, at, is_han_kana); }

std::size_t deepseek_v3(Text text, std::size_t at) {
  if (const std::size_t end = deepseek_v3_end(text, at); end > at) return end;
  // Numbers and controls that no letter follows; few of them stand in a row.
  return run_end(text, at, [](Text t, std::size_t i) { return deepseek_v3_end(t, i) == i; });
}

std::size_t default_marks(Text text, std::size_t at) { return split_runs(text, at, is_default_mark); }
std::size_t falcon_marks(Text text, std::size_t at) { return split_runs(text, at, is_falcon_mark); }

std::size_t viking(Text text, std::size_t at) {
  return split_led_runs(text, at, [](Text t, std::size_t i) { return is(t, i, ' '); }, is_viking_word);
}

}  // namespace layerstream::splitters

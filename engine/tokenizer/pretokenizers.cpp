// SPDX-License-Identifier: MIT
// The splitters. In the comments: L letter, N number, M mark, S white space, "_" the space character; alternatives
// are tried from left to right and each takes as much as it can, as the published expressions do.

#include "tokenizer/pretokenizers.h"

#include <algorithm>

#include "base/utf8.h"

namespace layerstream {
namespace {

using namespace unicode;
using Text = std::span<const CodePoint>;

bool has(Text text, std::size_t at, Classes classes) { return at < text.size() && (text[at].classes & classes) != 0; }
bool is(Text text, std::size_t at, char32_t value) { return at < text.size() && text[at].value == value; }
bool is_line_end(Text text, std::size_t at) { return is(text, at, '\r') || is(text, at, '\n'); }
// Neither white space nor letter nor number: punctuation, symbols, marks, controls.
bool is_other(Text text, std::size_t at) { return at < text.size() && !has(text, at, kSpace | kLetter | kNumber); }

template <typename Predicate>
std::size_t run_end(Text text, std::size_t at, const Predicate& predicate) {
  while (at < text.size() && predicate(text, at)) ++at;
  return at;
}
std::size_t class_run_end(Text text, std::size_t at, Classes classes) {
  while (has(text, at, classes)) ++at;
  return at;
}

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

// S+(?!\S) | S+: a run of white space leaves its last character to the word behind it.
std::size_t space_end(Text text, std::size_t at) {
  const std::size_t end = class_run_end(text, at, kSpace);
  return end == text.size() || end - at == 1 ? end : end - 1;
}

// S*[\r\n]+ | S+(?!\S) | S+: a run of white space is cut behind its last line end.
std::size_t space_end_after_lines(Text text, std::size_t at) {
  for (std::size_t end = class_run_end(text, at, kSpace); end > at; --end) {
    if (is_line_end(text, end - 1)) return end;
  }
  return space_end(text, at);
}

std::size_t number_end(Text text, std::size_t at, std::size_t most) {
  return std::min(class_run_end(text, at, kNumber), at + most);
}

// gpt-2: 's|'t|'re|'ve|'m|'ll|'d | _?L+ | _?N+ | _?[^SLN]+ | S+(?!\S) | S+
std::size_t split_gpt2(Text text, std::size_t at) {
  if (const std::size_t end = contraction_end(text, at, false); end > at) return end;
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (has(text, start, kLetter)) return class_run_end(text, start, kLetter);
  if (has(text, start, kNumber)) return class_run_end(text, start, kNumber);
  if (is_other(text, start)) return run_end(text, start, is_other);
  return space_end(text, at);
}

// N (one digit) | everything between digits
std::size_t split_digits(Text text, std::size_t at) {
  if (has(text, at, kNumber)) return at + 1;
  return run_end(text, at, [](Text t, std::size_t i) { return !has(t, i, kNumber); });
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\nLN]?L+ | N{1,digits} | _?[^SLN]+[\r\n]* | S*[\r\n]+ | S+(?!\S) | S+
std::size_t split_words(Text text, std::size_t at, std::size_t digits) {
  if (const std::size_t end = contraction_end(text, at, true); end > at) return end;
  if (has(text, at, kLetter)) return class_run_end(text, at, kLetter);
  if (has(text, at, kNumber)) return number_end(text, at, digits);
  if (!is_line_end(text, at) && has(text, at + 1, kLetter)) return class_run_end(text, at + 1, kLetter);
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (is_other(text, start)) return run_end(text, run_end(text, start, is_other), is_line_end);
  return space_end_after_lines(text, at);
}
std::size_t split_llama3(Text text, std::size_t at) { return split_words(text, at, 3); }
std::size_t split_qwen2(Text text, std::size_t at) { return split_words(text, at, 1); }

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

// [^\r\nLN]?U*W+ | [^\r\nLN]?U+W* | N | _?[^SLN]+[\r\n/]* | S*[\r\n]+ | S+(?!\S) | S+
std::size_t split_tekken(Text text, std::size_t at) {
  if (const std::size_t end = cased_word_end(text, at); end > at) return end;
  if (has(text, at, kNumber)) return at + 1;
  const std::size_t start = is(text, at, ' ') ? at + 1 : at;
  if (is_other(text, start)) {
    const auto closes = [](Text t, std::size_t i) { return is_line_end(t, i) || is(t, i, '/'); };
    return run_end(text, run_end(text, start, is_other), closes);
  }
  return space_end_after_lines(text, at);
}

constexpr std::array<Splitter, 2> kGpt2 = {split_gpt2, nullptr};
constexpr std::array<Splitter, 2> kLlama3 = {split_llama3, nullptr};
constexpr std::array<Splitter, 2> kQwen2 = {split_qwen2, nullptr};
constexpr std::array<Splitter, 2> kTekken = {split_tekken, nullptr};
constexpr std::array<Splitter, 2> kDigitsThenGpt2 = {split_digits, split_gpt2};

constexpr PreTokenizer kPreTokenizers[] = {
    {.name = "gpt-2", .stages = kGpt2},
    {.name = "phi-2", .stages = kGpt2},
    {.name = "llama-bpe", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "llama3", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "llama-v3", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "smaug-bpe", .stages = kLlama3},
    {.name = "dbrx", .stages = kLlama3},
    {.name = "qwen2", .stages = kQwen2},
    {.name = "deepseek-r1-qwen", .stages = kQwen2},
    {.name = "tekken", .stages = kTekken, .whole_piece_first = true, .adds_bos = true},
    {.name = "smollm", .stages = kDigitsThenGpt2},
    {.name = "starcoder", .stages = kDigitsThenGpt2},
};

std::vector<CodePoint> classify(std::string_view text) {
  std::vector<CodePoint> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const utf8::Unit unit = utf8::next_unit(text);
    const bool valid = unit.kind == utf8::UnitKind::valid;
    out.push_back({valid ? unit.code_point : char32_t{0xFFFD}, unit.bytes, valid ? classes_of(unit.code_point) : Classes{0}});
    text.remove_prefix(unit.bytes);
  }
  return out;
}

// Cuts the pieces (lengths in code points) of one stage further.
std::vector<std::size_t> cut(Text text, std::span<const std::size_t> pieces, Splitter splitter) {
  std::vector<std::size_t> out;
  std::size_t begin = 0;
  for (const std::size_t length : pieces) {
    const Text piece = text.subspan(begin, length);
    for (std::size_t at = 0; at < length;) {
      const std::size_t end = splitter(piece, at);
      out.push_back(end - at);
      at = end;
    }
    begin += length;
  }
  return out;
}

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  const auto* at = std::ranges::find(kPreTokenizers, name, &PreTokenizer::name);
  return at == std::end(kPreTokenizers) ? nullptr : at;
}

const PreTokenizer* guess_pre_tokenizer(std::size_t vocab_size) {
  if (vocab_size == 128256) return find_pre_tokenizer("llama-bpe");
  if (vocab_size == 131072) return find_pre_tokenizer("tekken");
  if (vocab_size == 50257 || vocab_size == 51200) return find_pre_tokenizer("gpt-2");  // GPT-2, Phi-2
  if (vocab_size >= 151643 && vocab_size <= 152064) return find_pre_tokenizer("qwen2");
  return nullptr;
}

std::vector<std::uint32_t> split_pieces(const PreTokenizer& pre_tokenizer, std::string_view text) {
  const std::vector<CodePoint> code_points = classify(text);
  std::vector<std::size_t> pieces{code_points.size()};
  for (const Splitter splitter : pre_tokenizer.stages) {
    if (splitter != nullptr) pieces = cut(code_points, pieces, splitter);
  }
  std::vector<std::uint32_t> bytes;
  bytes.reserve(pieces.size());
  std::size_t at = 0;
  for (const std::size_t length : pieces) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += code_points[at++].bytes;
    bytes.push_back(sum);
  }
  return bytes;
}

}  // namespace layerstream

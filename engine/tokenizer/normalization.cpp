// SPDX-License-Identifier: MIT
// Most text is stable and copied. A stretch is one stable code point and the unstable ones behind it: it is decomposed,
// its marks are put in order, and pairs are composed (Unicode standard, chapter 3.11).

#include "tokenizer/normalization.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/normalization_tables.h"

namespace layerstream::unicode {
namespace {

// Hangul syllables are a grid: 19 leading consonants, 21 vowels, 27 final consonants or none.
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kFinals = 0x11A7;  // kFinals itself: none
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kFinalCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kFinalCount;

constexpr char32_t kFirstUnstable = kUnstableRanges[0].first;
static_assert(kFirstUnstable == 0x300);

struct Unit {
  char32_t code_point;
  std::uint32_t rank;  // of the combining class; 0: a starter
};

bool is_unstable(char32_t code_point) { return code_point >= kFirstUnstable && contains(kUnstableRanges, code_point); }

std::uint32_t combining_rank(char32_t code_point) {
  const auto* at = std::ranges::lower_bound(kCombiningRanks, code_point, {}, &RankedRange::last);
  return at != std::end(kCombiningRanks) && code_point >= at->first ? at->rank : 0;
}

void append_decomposed(std::vector<Unit>& out, char32_t code_point) {
  if (code_point - kSyllables < kSyllableCount) {
    const char32_t index = code_point - kSyllables;
    out.push_back({kLeads + index / (kVowelCount * kFinalCount), 0});
    out.push_back({kVowels + index / kFinalCount % kVowelCount, 0});
    if (index % kFinalCount != 0) out.push_back({kFinals + index % kFinalCount, 0});
    return;
  }
  const auto* at = std::ranges::lower_bound(kDecompositions, code_point, {}, &Decomposition::code_point);
  if (at == std::end(kDecompositions) || at->code_point != code_point) {
    out.push_back({code_point, combining_rank(code_point)});
    return;
  }
  for (const std::uint32_t part : std::span(kDecompositionPool).subspan(at->begin, at->length)) {
    out.push_back({part, combining_rank(part)});
  }
}

// 0 if the two do not compose.
char32_t composed(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kFinalCount;
  }
  if (first - kSyllables < kSyllableCount && (first - kSyllables) % kFinalCount == 0 && second > kFinals &&
      second - kFinals < kFinalCount) {
    return first + (second - kFinals);
  }
  const auto pair_of = [](const Composition& composition) { return std::tuple(composition.first, composition.second); };
  const std::tuple<std::uint32_t, std::uint32_t> wanted(first, second);
  const auto* at = std::ranges::lower_bound(kCompositions, wanted, {}, pair_of);
  return at != std::end(kCompositions) && pair_of(*at) == wanted ? at->composite : 0;
}

void sort_marks(std::vector<Unit>& units) {
  for (auto begin = units.begin(); begin != units.end();) {
    const auto end = std::find_if(begin, units.end(), [](const Unit& unit) { return unit.rank == 0; });
    std::ranges::stable_sort(begin, end, {}, &Unit::rank);
    begin = end == units.end() ? end : end + 1;
  }
}

// A unit joins the last starter unless one of the same or a higher rank that stayed stands between them.
void compose(std::vector<Unit>& units) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t starter = kNone;
  std::size_t kept = 0;
  for (const Unit unit : units) {
    const bool adjacent = starter != kNone && kept == starter + 1;
    const bool reaches = starter != kNone && (adjacent || units[kept - 1].rank < unit.rank);
    if (const char32_t joined = reaches ? composed(units[starter].code_point, unit.code_point) : 0; joined != 0) {
      units[starter].code_point = joined;
      continue;
    }
    if (unit.rank == 0) starter = kept;
    units[kept++] = unit;
  }
  units.resize(kept);
}

struct Stretch {
  std::size_t bytes;
  bool may_change;
};

Stretch stretch_of(std::string_view text) {
  const utf8::Unit first = utf8::next_unit(text);
  Stretch stretch{first.bytes, false};
  if (first.kind != utf8::UnitKind::valid) return stretch;
  stretch.may_change = is_unstable(first.code_point);
  while (stretch.bytes < text.size()) {
    const utf8::Unit next = utf8::next_unit(text.substr(stretch.bytes));
    if (next.kind != utf8::UnitKind::valid || !is_unstable(next.code_point)) break;
    stretch.may_change = true;
    stretch.bytes += next.bytes;
  }
  return stretch;
}

void append_composed(std::string& out, std::string_view stretch) {
  std::vector<Unit> units;
  while (!stretch.empty()) {
    const utf8::Unit next = utf8::next_unit(stretch);
    append_decomposed(units, next.code_point);
    stretch.remove_prefix(next.bytes);
  }
  sort_marks(units);
  compose(units);
  for (const Unit& unit : units) utf8::append(out, unit.code_point);
}

}  // namespace

std::string to_nfc(std::string_view text) {
  constexpr std::uint8_t kFirstByte = 0xCC;  // of U+0300, the first unstable code point
  const auto is_below = [](char c) { return static_cast<std::uint8_t>(c) < kFirstByte; };
  if (std::ranges::all_of(text, is_below)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Stretch stretch = stretch_of(text);
    if (stretch.may_change) {
      append_composed(out, text.substr(0, stretch.bytes));
    } else {
      out += text.substr(0, stretch.bytes);
    }
    text.remove_prefix(stretch.bytes);
  }
  return out;
}

}  // namespace layerstream::unicode

// SPDX-License-Identifier: MIT
// Renders engine/tokenizer/normalization_tables.h: what composing to NFC needs to know of code points. The categories'
// package has no decompositions, and String.prototype.normalize changes with the version of node; so they are asked of
// the functions of a pinned package that carries its own data.

const HIGHEST = 0x10ffff;
const isSurrogate = (c) => c >= 0xd800 && c < 0xe000;
const isHangul = (c) => c >= 0xac00 && c < 0xac00 + 11172; // composed by arithmetic
const same = (a, b) => a.length === b.length && a.every((c, i) => c === b[i]);

/** Non-zero combining classes as ranks that order equally: [code point, rank from 1]. */
function combiningRanks(nfd, marks) {
  const [LOWEST, TOP] = [0x334, 0x345]; // of the lowest class and the highest
  const before = (a, b) => same(nfd([b, a]), [a, b]); // a's class is lower, and neither is 0
  const plain = marks.filter((c) => same(nfd([c]), [c]));
  const ordered = plain.filter((c) => before(c, TOP) || before(LOWEST, c));
  ordered.sort((a, b) => (before(a, b) ? -1 : before(b, a) ? 1 : 0));
  let rank = 0;
  return ordered.map((c, i) => [c, i === 0 || before(ordered[i - 1], c) ? ++rank : rank]);
}

/** Ascending [code point, value] -> runs [first, last, value]. */
function runsOf(pairs) {
  const runs = [];
  for (const [c, value] of [...pairs].sort((a, b) => a[0] - b[0])) {
    const last = runs.at(-1);
    if (last && last[1] + 1 === c && last[2] === value) last[1] = c;
    else runs.push([c, c, value]);
  }
  return runs;
}

/** `rangeItems`: ascending code points -> entries of a CodeRange table. */
export function normalizationTables({ nfc, nfd }, marks, { wrap, rangeItems }) {
  const ranks = combiningRanks(nfd, marks);
  const decomposed = []; // [code point, its parts]
  const compositions = []; // [first, second, composite]
  for (let c = 0; c <= HIGHEST; ++c) {
    if (isSurrogate(c) || isHangul(c)) continue;
    const parts = nfd([c]);
    if (same(parts, [c])) continue;
    decomposed.push([c, parts]);
    if (!same(nfc([c]), [c])) continue;
    const first = nfc(parts.slice(0, -1));
    if (first.length !== 1) throw new Error(`U+${c.toString(16)} is not made of a pair`);
    compositions.push([first[0], parts.at(-1), c]);
  }
  // What may change the text, or the character before it: everything else ends a stretch that is composed as one.
  const unstable = new Set([...ranks.map(([c]) => c), ...compositions.map(([, second]) => second)]);
  for (const [c] of decomposed) if (!same(nfc([c]), [c])) unstable.add(c);
  for (let c = 0x1161; c <= 0x1175; ++c) unstable.add(c); // Hangul vowels
  for (let c = 0x11a8; c <= 0x11c2; ++c) unstable.add(c); // and final consonants

  const hex = (n) => `0x${n.toString(16)}`;
  const rows = (list) =>
    wrap(
      list.map((row) => `{${row.map(hex).join(',')}}, `),
      132,
    );
  let begin = 0;
  const starts = decomposed.map(([c, parts]) => [c, (begin += parts.length) - parts.length, parts.length]);
  const pool = decomposed.flatMap(([, parts]) => parts);
  compositions.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return `#include <cstdint>

#include "tokenizer/code_range.h"

namespace layerstream::unicode {

struct RankedRange {
  std::uint32_t first;
  std::uint32_t last;  // included
  std::uint32_t rank;
};
struct Decomposition {
  std::uint32_t code_point;
  std::uint16_t begin;  // in kDecompositionPool
  std::uint16_t length;
};
struct Composition {
  std::uint32_t first;
  std::uint32_t second;
  std::uint32_t composite;
};

// Code points that may change, or join the one before them. Every other begins a stretch that is composed by itself.
inline constexpr CodeRange kUnstableRanges[] = {
${wrap(rangeItems([...unstable].sort((a, b) => a - b)), 132)}
};

// Combining classes other than 0, by rank.
inline constexpr RankedRange kCombiningRanks[] = {
${rows(runsOf(ranks))}
};

// Full canonical decompositions, ascending; Hangul syllables are left to arithmetic.
inline constexpr Decomposition kDecompositions[] = {
${rows(starts)}
};
inline constexpr std::uint32_t kDecompositionPool[] = {
${wrap(
  pool.map((c) => `${hex(c)}, `),
  132,
)}
};

// Pairs that compose, ascending.
inline constexpr Composition kCompositions[] = {
${rows(compositions)}
};

}  // namespace layerstream::unicode
`;
}

// SPDX-License-Identifier: MIT
// Writes tests/unit/tokenizer/normalization_cases.json: seeded random texts and what JavaScript's normalize('NFC') makes
// of them, an implementation apart from the tables' source. Only code points that are older than any node in use.
//
//   node scripts/unicode/normalization-cases.mjs [--check]

import { generator, writeOrCheck } from './cases.mjs';

const RANGES = [
  ...[
    [0x41, 0x5a],
    [0xc0, 0x17f],
    [0x1cd, 0x233],
    [0x300, 0x345],
    [0x34b, 0x36f],
    [0x386, 0x3d3],
    [0x3f4, 0x457],
  ],
  ...[
    [0x591, 0x5c7],
    [0x5d0, 0x5ea],
    [0x622, 0x655],
    [0x6c0, 0x6ed],
    [0x915, 0x958],
    [0x9bc, 0x9d7],
    [0xb47, 0xb57],
  ],
  ...[
    [0xbc6, 0xbd7],
    [0xcbf, 0xcd5],
    [0xd46, 0xd57],
    [0xdd9, 0xdde],
    [0xf39, 0xfb9],
    [0x1100, 0x11ff],
    [0x1e00, 0x1fff],
  ],
  ...[
    [0x2126, 0x212b],
    [0x219a, 0x22ed],
    [0x2adc, 0x2adc],
    [0x3046, 0x30fe],
    [0xac00, 0xac80],
    [0xd780, 0xd7a3],
  ],
  ...[
    [0xf900, 0xfad9],
    [0xfb1d, 0xfb4e],
    [0x11099, 0x110ba],
    [0x1d157, 0x1d1c0],
    [0x2f800, 0x2fa1d],
    [0x20, 0x20],
  ],
];

const below = generator(20250118);
const pick = () => {
  const [first, last] = RANGES[below(RANGES.length)];
  return String.fromCodePoint(first + below(last - first + 1));
};
const MARKS = [
  '\u0301',
  '\u0323',
  '\u0308',
  '\u0345',
  '\u0327',
  '\u05b0',
  '\u3099',
  '\u0f71',
  '\u1161',
  '\u11a8',
];
const cases = [];
for (let i = 0; i < 1500; ++i) {
  const letters = Array.from({ length: 1 + below(4) }, pick);
  const draw = () => (below(3) === 0 ? MARKS[below(MARKS.length)] : letters[below(letters.length)]);
  const text = Array.from({ length: 1 + below(8) }, draw).join('');
  // Half of them decomposed first, so that there is much to compose.
  const source = i % 2 === 0 ? text : text.normalize('NFD');
  const nfc = source.normalize('NFC');
  cases.push(nfc === source ? { text: source } : { text: source, nfc });
}
await writeOrCheck('normalization_cases.json', {
  about: 'written by scripts/unicode/normalization-cases.mjs; without "nfc": the text stays',
  cases,
});

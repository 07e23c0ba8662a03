// SPDX-License-Identifier: MIT
// `bench --profile` accounts for all of the time that it reports rates of. Needs build/native-release.

import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { nativeProgram, tinychatFile } from './support/paths.js';

interface Row {
  operation: string;
  seconds: number;
  calls: number;
  multiply_adds?: number;
}

interface Bench {
  prefill_tokens_per_s: number;
  decode_tokens_per_s: number;
  profile?: { prefill: Row[]; decode: Row[] };
}

const [promptTokens, decodedTokens] = [40, 12];

function bench(...flags: string[]): Bench {
  const counts = ['-p', String(promptTokens), '-n', String(decodedTokens)];
  const args = ['bench', tinychatFile, ...counts, '--json', ...flags];
  return JSON.parse(execFileSync(nativeProgram, args, { encoding: 'utf8' })) as Bench;
}

const sum = (rows: readonly Row[]): number => rows.reduce((total, { seconds }) => total + seconds, 0);
const named = (rows: readonly Row[], name: string): Row => {
  const row = rows.find(({ operation }) => operation === name);
  if (row === undefined) throw new Error(`no row "${name}" in ${JSON.stringify(rows)}`);
  return row;
};

test('the rows of a phase add up to its time, the slowest first', () => {
  const { profile, prefill_tokens_per_s, decode_tokens_per_s } = bench('--profile', '--budget', 'min');
  expect(sum(profile?.prefill ?? [])).toBeCloseTo(promptTokens / prefill_tokens_per_s, 6);
  expect(sum(profile?.decode ?? [])).toBeCloseTo(decodedTokens / decode_tokens_per_s, 6);
  const seconds = (profile?.decode ?? []).slice(0, -1).map((row) => row.seconds);
  expect(seconds).toEqual([...seconds].sort((a, b) => b - a));
  expect(profile?.decode.at(-1)?.operation).toBe('other');
});

test('every pass is in it, with draws, text and the wait for weights', () => {
  const { prefill = [], decode = [] } = bench('--profile', '--budget', 'min').profile ?? {};
  expect(named(decode, 'sampling').calls).toBe(decodedTokens);
  expect(named(decode, 'tokenizer').calls).toBe(decodedTokens);
  expect(named(prefill, 'tokenizer').calls).toBe(1);
  expect(named(decode, 'waiting for weights').calls).toBeGreaterThan(0);
  const perToken = (named(decode, 'matmul Q8_0').multiply_adds ?? 0) / decodedTokens;
  const blocks = (named(prefill, 'matmul Q8_0').multiply_adds ?? 0) / promptTokens;
  // Each decoded token has logits; of the prompt only the last.
  expect(perToken).toBeGreaterThan(blocks);
  expect(Number.isInteger(perToken)).toBe(true);
});

test('without the flag there is no profile', () => {
  expect(bench()).not.toHaveProperty('profile');
});

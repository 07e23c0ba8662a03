// SPDX-License-Identifier: MIT
// Sampling options from the API to the engine: what is refused, that every option arrives as itself, and that wasm draws
// the native program's tokens.

import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { samplingSettings } from '#web/api/sampling.js';
import type { SamplingOptions } from '#web/api/types.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { samplerNames } from '#web/protocol/data.js';
import { never, thrownBy, withFolder } from './support/assertions.js';
import { chats, type KnownChat } from './support/chats.js';
import { loadTestModule, openFile, type OpenedEngine } from './support/engine.js';
import { nativeProgram, tinychatFile } from './support/paths.js';

let module: LayerstreamModule;
beforeAll(async () => {
  module = await loadTestModule();
});

const prompt = (chats[1] as KnownChat).prompt_ids;

async function withPrompt<T>(use: (opened: OpenedEngine) => Promise<T>): Promise<T> {
  const opened = await openFile(module, tinychatFile);
  try {
    await opened.runner.run(prompt, 'last', { signal: never() });
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** `count` tokens; none ends the answer. */
async function draw({ engine, runner }: OpenedEngine, options: SamplingOptions, count: number) {
  engine.setSampler(samplingSettings(options));
  const ids: number[] = [];
  while (ids.length < count) {
    ids.push(engine.sample());
    await runner.run(ids.slice(-1), 'last', { signal: never() });
  }
  return ids;
}

describe('options', () => {
  test('are greedy with everything off by default', () => {
    expect(samplingSettings({})).toMatchObject({
      temperature: 0,
      topK: 0,
      topP: 1,
      minP: 0,
      typicalP: 1,
      topNSigma: -1,
      xtcProbability: 0,
      dryMultiplier: 0,
      repeatPenalty: 1,
      frequencyPenalty: 0,
      presencePenalty: 0,
      mirostat: 0,
      logitBias: [],
      bannedTokens: [],
      samplers: samplerNames,
      seed: 0,
    });
  });

  test('a seed is drawn anew when there is something to draw', () => {
    const seeds = new Set(Array.from({ length: 20 }, () => samplingSettings({ temperature: 1 }).seed));
    expect(seeds.size).toBe(20);
    expect(samplingSettings({ temperature: 1, seed: 7 }).seed).toBe(7);
  });

  const wrong: [string, Record<string, unknown>, string][] = [
    ...Object.keys(samplingSettings({}))
      .filter((name) => typeof samplingSettings({})[name as keyof SamplingOptions] === 'number')
      .flatMap((name): [string, Record<string, unknown>, string][] => [
        [name, { [name]: NaN }, 'NaN'],
        [name, { [name]: -Infinity }, '-Infinity'],
        [name, { [name]: '1' }, '1'],
      ]),
    ...['topK', 'dryAllowedLength', 'dryLastN', 'repeatLastN', 'mirostat', 'seed'].map(
      (name): [string, Record<string, unknown>, string] => [name, { [name]: 1.5 }, '1.5'],
    ),
    ['topK', { topK: 2 ** 31 }, '2147483648'],
    ['seed', { seed: -1 }, '-1'],
    ['seed', { seed: 2 ** 53 }, '9007199254740992'],
    ['logitBias', { logitBias: 5 }, '5'],
    ['logitBias', { logitBias: { one: 1 } }, 'one'],
    ['logitBias[3]', { logitBias: { 3: NaN } }, 'NaN'],
    ['logitBias[3]', { logitBias: { 3: Infinity } }, 'Infinity'],
    ['bannedTokens', { bannedTokens: 5 }, '5'],
    ['bannedTokens[1]', { bannedTokens: [1, 0.5] }, '0.5'],
    ['drySequenceBreakers', { drySequenceBreakers: 'x' }, 'x'],
    ['drySequenceBreakers[0]', { drySequenceBreakers: [1] }, '1'],
    ['drySequenceBreakers[0]', { drySequenceBreakers: ['a\0b'] }, 'NUL'],
    ['samplers[1]', { samplers: ['top_k', 'topk'] }, 'topk'],
  ];
  test.each(wrong)(
    'that are not of their type are refused by name and value: %s %j',
    async (name, options, value) => {
      const error = await thrownBy(() => samplingSettings(options));
      expect(error).toMatchObject({ code: 'bad_argument' });
      expect(error).toMatchObject({ message: expect.stringContaining(name) });
      expect(error).toMatchObject({ message: expect.stringContaining(value) });
    },
  );
});

describe('the engine', () => {
  // A value outside the range of each setting: the engine's refusal names it, so it arrived as itself.
  const outside: [SamplingOptions, string][] = [
    [{ temperature: 1e300 }, 'temperature is inf'],
    [{ dynatempRange: -1.5 }, 'dynatemp_range is -1.5'],
    [{ dynatempExponent: -1.5 }, 'dynatemp_exponent is -1.5'],
    [{ topP: -1.5 }, 'top_p is -1.5'],
    [{ minP: 1.5 }, 'min_p is 1.5'],
    [{ typicalP: -1.5 }, 'typical_p is -1.5'],
    [{ topNSigma: 1e300 }, 'top_n_sigma is inf'],
    [{ xtcProbability: 1.5 }, 'xtc_probability is 1.5'],
    [{ xtcThreshold: 1.5 }, 'xtc_threshold is 1.5'],
    [{ dryMultiplier: -1.5 }, 'dry_multiplier is -1.5'],
    [{ dryBase: 0.5 }, 'dry_base is 0.5'],
    [{ dryAllowedLength: -2 }, 'dry_allowed_length is -2'],
    [{ dryLastN: -2 }, 'dry_last_n is -2'],
    [{ repeatPenalty: 0 }, 'repeat_penalty is 0'],
    [{ frequencyPenalty: 1e300 }, 'frequency_penalty is inf'],
    [{ presencePenalty: 1e300 }, 'presence_penalty is inf'],
    [{ repeatLastN: -2 }, 'repeat_last_n is -2'],
    [{ mirostat: 1 as 0 }, 'mirostat is 1'],
    [{ mirostatTau: -1.5 }, 'mirostat_tau is -1.5'],
    [{ mirostatEta: -1.5 }, 'mirostat_eta is -1.5'],
    [{ logitBias: { 5000: 1 } }, 'logit_bias names token id 5000'],
    [{ bannedTokens: [7, 5000] }, 'banned names token id 5000'],
    [{ samplers: ['top_k', 'top_p', 'top_k'] }, 'top_k twice'],
    [{ dryMultiplier: 1, drySequenceBreakers: ['\n', ''] }, 'a DRY breaker has 0 bytes'],
    [{ dryMultiplier: 1, drySequenceBreakers: ['x'.repeat(65)] }, 'a DRY breaker has 65 bytes'],
  ];
  test('refuses what is out of range, and stays usable', () =>
    withPrompt(async ({ engine }) => {
      for (const [options, message] of outside) {
        const error = await thrownBy(() => engine.setSampler(samplingSettings(options)));
        expect(error).toMatchObject({ code: 'bad_argument', message: expect.stringContaining(message) });
      }
      engine.setSampler(samplingSettings({ samplers: [...samplerNames].reverse() }));
      expect(engine.sample()).toBeGreaterThanOrEqual(0);
    }));

  test('heeds bans, biases and top-k', () =>
    withPrompt(async ({ engine }) => {
      engine.setSampler(samplingSettings({}));
      const best = engine.sample();
      engine.setSampler(samplingSettings({ bannedTokens: [best] }));
      const second = engine.sample();
      expect(second).not.toBe(best);
      engine.setSampler(
        samplingSettings({ bannedTokens: [best], logitBias: { [second]: -Infinity, 100: 3 } }),
      );
      expect([best, second]).not.toContain(engine.sample());
      engine.setSampler(samplingSettings({ logitBias: { 1234: 1e6 } }));
      expect(engine.sample()).toBe(1234);
      engine.setSampler(samplingSettings({ temperature: 100, topK: 2, seed: 1 }));
      const drawn = new Set(Array.from({ length: 50 }, () => engine.sample()));
      expect([...drawn].sort()).toEqual([best, second].sort());
    }));

  test('has an error for when nothing is left to draw', () =>
    withPrompt(async ({ engine }) => {
      const all = Array.from({ length: engine.vocabSize }, (_, id) => id);
      engine.setSampler(samplingSettings({ bannedTokens: all }));
      expect(await thrownBy(() => engine.sample())).toMatchObject({ code: 'no_candidates' });
    }));

  test('gives log-probabilities of the raw logits', () =>
    withPrompt(async ({ engine, runner }) => {
      expect(await thrownBy(() => engine.logprobs(3))).toMatchObject({ code: 'bad_argument' });
      engine.setSampler(samplingSettings({ temperature: 50, topK: 5, seed: 3 }));
      const token = engine.sample();
      const logits = Array.from(engine.logits(prompt.length - 1));
      const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
      const order = logits.map((_, id) => id).sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b);
      const result = engine.logprobs(4);
      expect(result.token).toBe(token);
      expect(result.logprob).toBeCloseTo((logits[token] ?? 0) - total, 9);
      expect(result.top.map((entry) => entry.token)).toEqual(order.slice(0, 4));
      for (const entry of result.top) {
        expect(entry.logprob).toBeCloseTo((logits[entry.token] ?? 0) - total, 9);
      }
      expect(engine.logprobs(0).top).toEqual([]);
      expect(engine.logprobs(1e9).top).toHaveLength(engine.vocabSize);
      await runner.run([token], 'none', { signal: never() });
      expect(await thrownBy(() => engine.logprobs(3))).toMatchObject({ code: 'bad_argument' });
    }));
});

// Options as the package and as the program spell them.
const spellings: [string, SamplingOptions, string][] = [
  [
    'usual',
    { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05 },
    '--temp 0.8 --top-k 40 --top-p 0.95 --min-p 0.05',
  ],
  ['temperature alone', { temperature: 1.5 }, '--temp 1.5'],
  [
    'dynamic temperature, typical, top-n-sigma',
    { temperature: 1.5, dynatempRange: 0.5, dynatempExponent: 1.5, typicalP: 0.9, topNSigma: 3 },
    '--temp 1.5 --dynatemp-range 0.5 --dynatemp-exp 1.5 --typical 0.9 --top-n-sigma 3',
  ],
  [
    'XTC and a bias',
    {
      temperature: 1,
      xtcProbability: 0.6,
      xtcThreshold: 0.05,
      logitBias: { 2: -Infinity, 300: 2.5, 301: -1 },
    },
    '--temp 1 --xtc-probability 0.6 --xtc-threshold 0.05 --logit-bias 2-inf --logit-bias 300+2.5 --logit-bias 301-1',
  ],
  [
    'DRY and penalties',
    {
      temperature: 0.7,
      dryMultiplier: 0.8,
      dryBase: 1.5,
      dryAllowedLength: 1,
      dryLastN: 100,
      drySequenceBreakers: ['is', '?'],
      repeatPenalty: 1.2,
      repeatLastN: -1,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
    },
    '--temp 0.7 --dry-multiplier 0.8 --dry-base 1.5 --dry-allowed-length 1 --dry-penalty-last-n 100 ' +
      '--dry-sequence-breaker is --dry-sequence-breaker ? --repeat-penalty 1.2 --repeat-last-n -1 ' +
      '--frequency-penalty 0.1 --presence-penalty 0.2',
  ],
  [
    'DRY with the usual breakers',
    { dryMultiplier: 5, dryAllowedLength: 0 },
    '--dry-multiplier 5 --dry-allowed-length 0',
  ],
  [
    'Mirostat',
    { temperature: 1, mirostat: 2, mirostatTau: 3, mirostatEta: 0.3 },
    '--temp 1 --mirostat 2 --mirostat-ent 3 --mirostat-lr 0.3',
  ],
  [
    'another order',
    { temperature: 2, topP: 0.9, samplers: ['temperature', 'top_p'] },
    '--temp 2 --top-p 0.9 --samplers temperature;top_p',
  ],
];

describe('wasm and the native program draw the same tokens', () => {
  test.each(spellings)('%s', async (_, options, flags) => {
    const seed = 20240607;
    const count = 40;
    const wasm = await withPrompt((opened) => draw(opened, { ...options, seed }, count));
    const native = await withFolder(async (folder) => {
      const file = path.join(folder, 'ids.txt');
      writeFileSync(file, prompt.join(' '));
      const run = ['generate', tinychatFile, '--ids', file, '-n', String(count), '--seed', String(seed)];
      const fixed = ['--ctx', '512', '--kv', 'f32', '--ignore-eos', '--json'];
      return JSON.parse(
        execFileSync(nativeProgram, [...run, ...fixed, ...flags.split(' ')], { encoding: 'utf8' }),
      );
    });
    expect(native).toMatchObject({ ids: wasm });
  });
});

describe('the program', () => {
  const refused: [string, string][] = [
    ['--temp nan', 'temperature is nan'],
    ['--typical -1', 'typical_p is -1'],
    ['--repeat-last-n -2', '--repeat-last-n is "-2"'],
    ['--mirostat 1', 'mirostat is 1'],
    ['--logit-bias 5', '--logit-bias is "5"'],
    ['--logit-bias 5+-1', '--logit-bias is "5+-1"'],
    ['--logit-bias 5+nan', 'logit_bias of token id 5 is nan'],
    ['--logit-bias 2048+1', 'logit_bias names token id 2048'],
    ['--samplers top_k;topk', '"topk"'],
    ['--samplers top_k;top_k', 'top_k twice'],
  ];
  test.each(refused)('refuses %s', async (flags, message) => {
    const run = ['generate', tinychatFile, '--prompt', 'Hi', '-n', '1', '--ctx', '64', ...flags.split(' ')];
    const error = await thrownBy(() => execFileSync(nativeProgram, run, { stdio: 'pipe', encoding: 'utf8' }));
    expect(error).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
    expect(error).toMatchObject({ stderr: expect.stringMatching(/^error: bad_argument: /) });
  });
});

// SPDX-License-Identifier: MIT
// model.embed on the real engine: pooling, scale, usage, and that nothing else changes.

import { describe, expect, test } from '@jest/globals';
import type { EmbedOptions, Model, PassProgress } from '#web/api/types.js';
import { codeOf } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { useTinychat } from './support/loaded.js';

const tinychat = useTinychat();
const raw: EmbedOptions = { normalize: false };
const cats = 'Cats sleep for most of the day.';
const sea = 'The capital of France is Paris.';

const one = async (model: Model, text: string | number[], options?: EmbedOptions): Promise<Float32Array> =>
  (await model.embed([text], options)).embeddings[0] as Float32Array;
const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? NaN), 0);

describe('pooling', () => {
  test('the mean is the mean of the states of all prefixes', async () => {
    const model = await tinychat.load();
    const tokens = await model.tokenize(cats);
    const states: Float32Array[] = [];
    for (let end = 1; end <= tokens.length; end += 1) {
      states.push(await one(model, tokens.slice(0, end), { ...raw, pooling: 'last' }));
    }
    const mean = await one(model, tokens, raw);
    expect(mean.length).toBeGreaterThan(100);
    mean.forEach((value, i) => {
      const expected = states.reduce((sum, state) => sum + (state[i] ?? NaN), 0) / states.length;
      expect(value).toBe(Math.fround(expected));
    });
    expect(await one(model, tokens, { ...raw, pooling: 'cls' })).toEqual(states[0]);
    expect(await one(model, tokens, { ...raw, pooling: 'last' })).toEqual(states.at(-1));
  });

  test('a vector has length 1 unless asked otherwise, and its direction is that of the sum', async () => {
    const model = await tinychat.load();
    for (const pooling of ['mean', 'last', 'cls'] as const) {
      const unit = await one(model, cats, { pooling });
      const free = await one(model, cats, { pooling, ...raw });
      expect(dot(unit, unit)).toBeCloseTo(1, 5);
      expect(dot(free, free)).not.toBeCloseTo(1, 2);
      expect(dot(unit, free) / Math.sqrt(dot(free, free))).toBeCloseTo(1, 5);
    }
  });

  test('a text is nearer to itself than to another one', async () => {
    const model = await tinychat.load();
    const { embeddings } = await model.embed([cats, sea, cats]);
    const [a, b, c] = embeddings as [Float32Array, Float32Array, Float32Array];
    expect(c).toEqual(a);
    expect(dot(a, b)).toBeLessThan(0.999);
  });
});

test('the same bits at the smallest budget, from text or ids, alone or among others', async () => {
  const [resident, streamed] = [
    await tinychat.load(),
    await tinychat.load({ memoryBudget: 'min', unitBytes: 1 << 16 }),
  ];
  const expected = await one(resident, cats);
  expect(await one(streamed, cats)).toEqual(expected);
  const ids = await resident.tokenize(cats, { addSpecial: true });
  expect((await resident.embed([sea, ids, sea])).embeddings[1]).toEqual(expected);
  expect((await resident.embed(cats)).embeddings).toEqual([expected]);
});

test('tokens are counted, and progress counts those of all texts together', async () => {
  const model = await tinychat.load();
  const counts = [await model.countTokens(cats), await model.countTokens(sea)];
  const all = (counts[0] ?? 0) + (counts[1] ?? 0);
  const seen: PassProgress[] = [];
  const { usage } = await model.embed([cats, sea], { onProgress: (progress) => seen.push(progress) });
  expect(usage).toEqual({ promptTokens: all });
  expect(seen.at(-1)).toEqual({
    phase: 'prefill',
    block: 6,
    blockCount: 6,
    promptTokensDone: all,
    promptTokens: all,
  });
});

test('an answer after it is the same as without it', async () => {
  const chat = chats[1] as KnownChat;
  const model = await tinychat.load();
  await model.chat(chat.messages).text();
  await model.embed([cats]);
  expect(await model.chat(chat.messages).text()).toBe(replyOf(chat).text);
});

test('it waits for the answer before it, and can be aborted', async () => {
  const chat = chats[1] as KnownChat;
  const model = await tinychat.load();
  const answer = model.chat(chat.messages).text();
  const abort = new AbortController();
  const embedded = model.embed([cats], { signal: abort.signal });
  abort.abort(new Error('not wanted'));
  await expect(embedded).rejects.toThrow('not wanted');
  expect(await answer).toBe(replyOf(chat).text);
  expect((await one(model, cats)).length).toBeGreaterThan(100);
});

test('what cannot be embedded is refused with the reason', async () => {
  const model = await tinychat.load();
  expect(await codeOf(() => model.embed([[]]))).toBe('bad_argument');
  expect(await codeOf(() => model.embed(['a', [-1]]))).toBe('bad_argument');
  expect(await codeOf(() => model.embed('a', { pooling: 'max' as 'mean' }))).toBe('bad_argument');
  await expect(model.embed([cats, 'word '.repeat(600)])).rejects.toMatchObject({
    code: 'context_full',
    details: { index: 1, contextLength: 512 },
  });
  await model.dispose();
  expect(await codeOf(() => model.embed('a'))).toBe('disposed');
});

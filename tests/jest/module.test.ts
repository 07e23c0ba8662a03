// SPDX-License-Identifier: MIT
// The wasm module itself: codes, headers from a growing prefix, refusals, passes, leaks.

import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { samplingSettings } from '#web/api/sampling.js';
import { engineErrorCodes } from '#web/errors.js';
import { Engine } from '#web/engine/module.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { codeOf, never, pause, thrownBy, within } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { defaultSettings, loadTestModule, openFile, type OpenedEngine } from './support/engine.js';
import { tinychatFile } from './support/paths.js';

let module: LayerstreamModule;
const fileBytes = readFileSync(tinychatFile);
beforeAll(async () => {
  module = await loadTestModule();
});

const signal = never();

async function withEngine<T>(
  settings: Parameters<typeof openFile>[2],
  use: (opened: OpenedEngine) => Promise<T>,
): Promise<T> {
  const opened = await openFile(module, tinychatFile, settings);
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

const greedy = samplingSettings({});

/** Greedy ids up to and with the end-of-turn token. */
async function answer({ engine, runner }: OpenedEngine, prompt: readonly number[]): Promise<number[]> {
  engine.truncate(0);
  engine.setSampler(greedy);
  await runner.run(prompt, 'last', { signal });
  const ids: number[] = [];
  while (engine.pastTokens < engine.contextLength) {
    const token = engine.sample();
    ids.push(token);
    if (engine.isEndOfGeneration(token)) {
      break;
    }
    await runner.run([token], 'last', { signal });
  }
  return ids;
}

test("the engine's error codes are those of errors.ts, in the same order", () => {
  expect(module.errorCodes().split(',')).toEqual([...engineErrorCodes]);
});

describe('header', () => {
  test('is read from a prefix that grows as the engine asks', () => {
    const engine = new Engine(module);
    let bytes = 8;
    const lengths: number[] = [];
    for (let needed = bytes; needed !== 0;) {
      lengths.push(bytes);
      needed = engine.addPart(0, fileBytes.subarray(0, bytes), fileBytes.length);
      expect(needed === 0 || (needed > bytes && needed <= fileBytes.length)).toBe(true);
      bytes = needed;
    }
    expect(lengths.at(-1)).toBeLessThan(200_000);
    expect(engine.partCount).toBe(1);
    engine.open(defaultSettings);
    expect(engine.blockCount).toBe(6);
    expect(engine.vocabSize).toBe(2048);
    expect(engine.contextLength).toBe(512);
    engine.dispose();
  });

  test('the description has what the page needs', () =>
    withEngine({}, async ({ engine }) => {
      expect(engine.describe()).toMatchObject({
        architecture: 'llama',
        name: expect.any(String),
        config: expect.any(Object),
        tokenizer: {
          kind: 'gpt2',
          pre: 'gpt-2',
          vocab_size: 2048,
          end_of_generation: expect.arrayContaining([{ id: 2, text: '<|im_end|>' }]),
        },
        chat_template: expect.stringContaining('<|im_start|>'),
        plan: expect.any(Object),
      });
    }));

  test('what is no GGUF is bad_magic', async () => {
    const engine = new Engine(module);
    const html = Buffer.from('<!doctype html><title>Sign in</title>');
    expect(await codeOf(() => engine.addPart(0, html, html.length))).toBe('bad_magic');
    engine.dispose();
  });

  test('a file that ends early is truncated', async () => {
    const engine = new Engine(module);
    const cut = fileBytes.length - 1_000_000;
    const code = await codeOf(() => {
      engine.addPart(0, fileBytes.subarray(0, 300_000), cut);
      engine.open(defaultSettings);
    });
    expect(code).toBe('truncated');
    engine.dispose();
  });

  test('a budget that is too small is refused with the numbers', async () => {
    const error = await thrownBy(() => withEngine({ budgetBytes: 10_000 }, async () => undefined));
    expect(error).toMatchObject({ name: 'OutOfMemoryError', code: 'budget_too_small' });
    expect(error).toMatchObject({ message: expect.stringMatching(/\d/) });
  });
});

describe('passes', () => {
  test('every known chat gets its known greedy answer', () =>
    withEngine({ kvType: 'f32' }, async (opened) => {
      const wrong: string[] = [];
      for (const chat of chats) {
        const ids = await answer(opened, chat.prompt_ids);
        if (ids.join() !== replyOf(chat).ids.join()) {
          wrong.push(
            `${chat.messages.at(-1)?.content}: ${ids.join()} instead of ${replyOf(chat).ids.join()}`,
          );
        }
      }
      expect(wrong).toEqual([]);
    }));

  const someChat = chats[1] as KnownChat;

  test('the smallest budget gives the same bits, and holds no more than its slots', async () => {
    const run = async (opened: OpenedEngine) => {
      const ids = await answer(opened, someChat.prompt_ids);
      return {
        ids,
        logits: opened.engine.logits(0),
        kv: opened.engine.dumpKv(),
        memory: opened.engine.memory(),
      };
    };
    const all = await withEngine({}, run);
    const least = await withEngine({ budgetBytes: 0, unitBytes: 64 << 10 }, run);
    expect(least.ids).toEqual(all.ids);
    expect(Buffer.compare(Buffer.from(least.logits.buffer), Buffer.from(all.logits.buffer))).toBe(0);
    expect(Buffer.compare(least.kv, all.kv)).toBe(0);
    expect(least.memory.pinnedBytes).toBe(0);
    expect(least.memory.peakResidentWeightBytes).toBeLessThanOrEqual(
      least.memory.slotBytes + least.memory.fixedBytes,
    );
    expect(least.memory.slotBytes).toBeLessThan(all.memory.pinnedBytes / 4);
    expect(least.memory.bytesRead).toBeGreaterThan(all.memory.bytesRead * 5);
  });

  test('slow reads that overtake each other change nothing', () =>
    withEngine({ budgetBytes: 0, unitBytes: 128 << 10 }, async (opened) => {
      const plain = await answer(opened, someChat.prompt_ids.slice(0, 6));
      opened.source.maxDelayMs = 3;
      const ids = await within(50_000, answer(opened, someChat.prompt_ids.slice(0, 6)));
      expect(ids).toEqual(plain);
    }));

  test('a failed read fails the pass, and the next one works', () =>
    withEngine({ budgetBytes: 0, unitBytes: 64 << 10 }, async (opened) => {
      const expected = await answer(opened, someChat.prompt_ids);
      for (const after of [1, 2, 5, 30]) {
        opened.engine.truncate(0);
        await opened.runner.settle();
        opened.source.failAtBatch = opened.source.batches.length + after;
        const error = await thrownBy(() =>
          within(5_000, opened.runner.run(someChat.prompt_ids, 'last', { signal })),
        );
        expect(error).toMatchObject({ message: expect.stringMatching(/batch \d+ failed/) });
        expect(opened.source.inFlight).toBe(0);
        expect(opened.engine.pastTokens).toBe(0);
        expect(await answer(opened, someChat.prompt_ids)).toEqual(expected);
      }
    }));

  test('aborting at any point ends the pass at once and leaves the engine as it was', () =>
    withEngine({ budgetBytes: 0, unitBytes: 64 << 10 }, async (opened) => {
      const expected = await answer(opened, someChat.prompt_ids);
      opened.source.maxDelayMs = 2;
      for (const wait of [0, 1, 5, 20]) {
        opened.engine.truncate(0);
        const abort = new AbortController();
        const reason = new Error('stop');
        const pass = opened.runner.run(someChat.prompt_ids, 'last', { signal: abort.signal });
        pass.catch(() => undefined);
        await pause(wait);
        abort.abort(reason);
        expect(await thrownBy(() => within(2_000, pass))).toBe(reason);
        expect(opened.source.inFlight).toBe(0);
        expect(opened.engine.pastTokens).toBe(0);
      }
      opened.source.maxDelayMs = 0;
      expect(await answer(opened, someChat.prompt_ids)).toEqual(expected);
    }));

  test('blocks are reported in order', () =>
    withEngine({ budgetBytes: 0, unitBytes: 64 << 10 }, async ({ runner, engine }) => {
      const blocks: number[] = [];
      await runner.run([1, 2, 3], 'last', { signal, onBlock: (block) => blocks.push(block) });
      expect(blocks.at(-1)).toBe(engine.blockCount);
      expect(blocks).toEqual([...blocks].sort((a, b) => a - b));
      expect(new Set(blocks).size).toBeGreaterThan(3);
    }));

  test('wrong arguments are bad_argument and harm nothing', () =>
    withEngine({}, async ({ engine, runner }) => {
      for (const ids of [[-1], [2048], [2 ** 31 - 1], []]) {
        expect(await codeOf(() => runner.run(ids, 'last', { signal }))).toBe('bad_argument');
      }
      expect(
        await codeOf(() => runner.run(new Array(engine.contextLength + 1).fill(5), 'last', { signal })),
      ).toMatch(/context_full|bad_argument/);
      expect(await codeOf(() => engine.truncate(1))).toBe('bad_argument');
      expect(await codeOf(() => engine.setSampler({ ...greedy, topP: NaN }))).toBe('bad_argument');
      await runner.run([1, 2], 'last', { signal });
    }));
});

describe('text', () => {
  test('tokenising and back gives the text', () =>
    withEngine({}, async ({ engine }) => {
      for (const text of [
        'Hello!',
        '',
        ' two  spaces',
        'ünïcödé 🦜 漢字',
        'line\nline\r\n\ttab',
        '\u0000nul',
      ]) {
        const ids = engine.tokenize(text, { addSpecial: false, parseSpecial: false });
        expect(engine.detokenize(ids, false)).toBe(text);
      }
    }));

  test('the text of an answer never ends inside a character', () =>
    withEngine({}, async ({ engine }) => {
      const text = 'a🦜漢é';
      const pieces = engine
        .tokenize(text, { addSpecial: false, parseSpecial: false })
        .map((token) => engine.acceptToken(token));
      expect(pieces.join('') + engine.finishText()).toBe(text);
      expect(pieces.join('')).not.toMatch(/\uFFFD/);
      expect(pieces).toContain('');
    }));

  test('control tokens are recognised only where that is asked for', () =>
    withEngine({}, async ({ engine }) => {
      const text = '<|im_start|>user';
      expect(engine.tokenize(text, { addSpecial: false, parseSpecial: true })[0]).toBe(1);
      expect(engine.tokenize(text, { addSpecial: false, parseSpecial: false })).not.toContain(1);
    }));
});

test('opening and closing 20 times leaves no engine behind and does not grow the memory', async () => {
  const before = module.liveEngines();
  const sizes: number[] = [];
  for (let round = 0; round < 20; ++round) {
    await withEngine({}, async ({ runner }) => runner.run([1, 2, 3], 'last', { signal }));
    sizes.push(module.HEAPU8.byteLength);
  }
  expect(module.liveEngines()).toBe(before);
  expect(sizes.at(-1)).toBe(sizes[2]);
});

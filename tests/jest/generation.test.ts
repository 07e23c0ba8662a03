// SPDX-License-Identifier: MIT
// How an answer begins and ends: stop strings and tokens, stop(), a full context, a busy model, reuse of the cache.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { samplingSettings } from '#web/api/sampling.js';
import type { Generation, GenerationChunk, Model } from '#web/api/types.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import type { GenerationOutcome, GenerationRules } from '#web/protocol/data.js';
import { makeRoom } from '#web/worker/context-shift.js';
import { Generator } from '#web/worker/generator.js';
import { codeOf, never, pause, thrownBy, within } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { loadTestModule, openFile, type OpenedEngine } from './support/engine.js';
import { inRoot, tinychatFile } from './support/paths.js';
import { TestHost } from './support/test-host.js';

const file = (): File => new File([readFileSync(tinychatFile)], 'tinychat.gguf');
const hello = chats[0] as KnownChat;
const whoAreYou = chats[1] as KnownChat;
const known = replyOf(whoAreYou);

let module: LayerstreamModule;
beforeAll(async () => {
  module = await loadTestModule();
});
afterAll(() => expect(module.liveEngines()).toBe(0));

async function collect(
  answer: Generation,
): Promise<{ text: string; tokens: number[]; last: GenerationChunk }> {
  const chunks: GenerationChunk[] = [];
  for await (const chunk of answer) {
    chunks.push(chunk);
  }
  return {
    text: chunks.map((chunk) => chunk.text).join(''),
    tokens: chunks.flatMap((chunk) => chunk.tokens),
    last: chunks.at(-1) as GenerationChunk,
  };
}

describe('an answer', () => {
  let host: TestHost;
  let model: Model;
  beforeEach(async () => {
    host = new TestHost('http://page.example/', async () => module);
    model = await host.api.loadModel(file(), { kvType: 'f32' });
  });
  afterEach(async () => {
    await model.dispose();
    await host.close();
  });

  test('ends before a stop string, wherever it begins and ends between tokens', async () => {
    for (let at = 1; at < known.text.length - 3; at += 3) {
      const stop = known.text.slice(at, at + 3);
      const { text, last } = await collect(model.chat(whoAreYou.messages, { stop: ['never said', stop] }));
      expect(text).toBe(known.text.slice(0, known.text.indexOf(stop)));
      expect(last).toMatchObject({ finishReason: 'stop', stopReason: stop });
    }
  });

  test('that never says a stop string is whole, whatever was held back', async () => {
    const stop = [`${known.text}!`, known.text.slice(-4) + '?', 'x'.repeat(50)];
    const { text, last } = await collect(model.chat(whoAreYou.messages, { stop }));
    expect(text).toBe(known.text);
    expect(last).toMatchObject({ finishReason: 'stop', stopReason: null });
  });

  test('ends at a stop token, which it does not contain', async () => {
    const token = known.ids[3] as number;
    const { tokens, last } = await collect(model.chat(whoAreYou.messages, { stopTokens: [token] }));
    expect(tokens).toEqual(known.ids.slice(0, known.ids.indexOf(token)));
    expect(last).toMatchObject({ finishReason: 'stop', stopReason: token });
  });

  test('goes on past its end when asked to', async () => {
    const wanted = known.ids.length + 5;
    const { tokens, last } = await collect(
      model.chat(whoAreYou.messages, { ignoreEos: true, maxTokens: wanted }),
    );
    expect(tokens).toHaveLength(wanted);
    expect(tokens.slice(0, known.ids.length)).toEqual(known.ids);
    expect(last.finishReason).toBe('length');
  });

  test('can be stopped at any time, and then has its text and its stats', async () => {
    for (const wanted of [1, 4]) {
      const answer = model.chat(whoAreYou.messages, { ignoreEos: true });
      let [text, tokens]: [string, number[]] = ['', []];
      let last: GenerationChunk | null = null;
      for await (const chunk of answer) {
        text += chunk.text;
        tokens = [...tokens, ...chunk.tokens];
        last = chunk;
        if (tokens.length >= wanted) {
          answer.stop();
        }
      }
      expect(last).toMatchObject({ finishReason: 'abort', stopReason: null });
      expect(last?.stats?.completionTokens).toBe(tokens.length);
      expect(last?.stats?.promptTokens).toBe(whoAreYou.prompt_ids.length);
      expect(await answer.text()).toBe(text);
      expect(known.text.startsWith(text) || text.startsWith(known.text)).toBe(true);
    }
    expect(await model.chat(hello.messages).text()).toBe(replyOf(hello).text);
  });

  test('can be stopped before it begins, while it waits, and after its end', async () => {
    const early = model.chat(whoAreYou.messages);
    early.stop();
    expect((await within(5_000, collect(early))).last).toMatchObject({ finishReason: 'abort' });

    const running = model.chat(whoAreYou.messages, { ignoreEos: true });
    const runningText = collect(running);
    const waiting = model.chat(hello.messages);
    const waitingText = collect(waiting);
    await pause(5);
    waiting.stop();
    const { last, tokens } = await within(5_000, waitingText);
    expect(last).toMatchObject({ finishReason: 'abort', stats: { completionTokens: 0 } });
    expect(tokens).toEqual([]);
    running.stop();
    await within(5_000, runningText);

    const late = model.chat(hello.messages);
    expect(await late.text()).toBe(replyOf(hello).text);
    late.stop();
    expect(await late.text()).toBe(replyOf(hello).text);
  });

  test('can continue token ids, to which nothing is added', async () => {
    const { tokens, last } = await collect(model.complete(whoAreYou.prompt_ids));
    expect(tokens).toEqual(known.ids.slice(0, -1));
    expect(last.stats?.promptTokens).toBe(whoAreYou.prompt_ids.length);
    for (const ids of [[], [-1], [1.5], [99_999_999]]) {
      expect(await codeOf(async () => model.complete(ids).text())).toBe('bad_argument');
    }
  });

  test('reports log-probabilities when asked', async () => {
    const chunks: GenerationChunk[] = [];
    for await (const chunk of model.chat(whoAreYou.messages, { logprobs: 3 })) {
      chunks.push(chunk);
    }
    const reported = chunks.flatMap((chunk) => chunk.logprobs ?? []);
    expect(reported.map(({ token }) => token)).toEqual(known.ids.slice(0, -1));
    for (const { token, logprob, top } of reported) {
      expect(top).toHaveLength(3);
      expect(top[0]).toEqual({ token, logprob }); // greedy draws the most probable one
      const probabilities = top.map((one) => Math.exp(one.logprob));
      expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
      expect(probabilities.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1 + 1e-6);
    }
    const alone = await collect(model.chat(whoAreYou.messages, { logprobs: 0, maxTokens: 1 }));
    expect(alone.tokens).toHaveLength(1);
    expect(await codeOf(() => model.chat(hello.messages, { logprobs: 101 }).text())).toBe('bad_argument');
  });

  test('is refused with `busy` when it must not wait', async () => {
    const running = model.chat(whoAreYou.messages).text();
    await pause(1);
    expect(await codeOf(() => model.chat(hello.messages, { whenBusy: 'reject' }).text())).toBe('busy');
    expect(await running).toBe(known.text);
    expect(await model.chat(hello.messages, { whenBusy: 'reject' }).text()).toBe(replyOf(hello).text);
  });

  test('is refused before anything is computed when its options are wrong', async () => {
    const wrong = [
      { stop: '' },
      { stop: ['a', ''] },
      { stop: Array.from({ length: 300 }, String) },
      { stopTokens: [-1] },
      { stopTokens: [1.5] },
      { maxTokens: NaN },
      { keepTokens: -1 },
      { contextOverflow: 'sideways' as 'shift' },
    ];
    for (const options of wrong) {
      expect(await codeOf(() => model.chat(hello.messages, options).text())).toBe('bad_argument');
    }
    expect((await model.memory()).sweeps).toBe(0);
  });

  test('of a long prompt is refused with both numbers, or shifted', async () => {
    const small = await host.api.loadModel(file(), { kvType: 'f32', contextLength: 32 });
    const prompt = 'One two three four five. '.repeat(20);
    expect(await thrownBy(() => small.complete(prompt).text())).toMatchObject({
      code: 'context_full',
      details: {
        contextLength: 32,
        promptTokens: (await small.tokenize(prompt, { addSpecial: true })).length,
      },
    });
    expect((await small.memory()).sweeps).toBe(0);
    const { tokens, last } = await within(
      20_000,
      collect(small.complete(prompt, { contextOverflow: 'shift', ignoreEos: true, maxTokens: 80 })),
    );
    expect(tokens).toHaveLength(80);
    expect(last.finishReason).toBe('length');
    expect(last.stats?.shiftedTokens).toBeGreaterThan(80);
    await small.dispose();
  });
});

const rules: GenerationRules = {
  maxTokens: null,
  stop: [],
  stopTokens: [],
  ignoreEos: true,
  overflow: 'stop',
  keepTokens: 4,
  logprobs: null,
};
const greedy = samplingSettings({});

/** Answers straight from the worker's generator. */
async function generate(
  generator: Generator,
  tokens: readonly number[],
  change: Partial<GenerationRules>,
): Promise<{ ids: number[]; outcome: GenerationOutcome }> {
  const ids: number[] = [];
  const outcome = await generator.generate({
    tokens,
    sampling: greedy,
    rules: { ...rules, ...change },
    signal: never(),
    stop: never(),
    onProgress: () => undefined,
    onToken: (token) => token !== null && ids.push(token),
  });
  return { ids, outcome };
}

describe('the cache', () => {
  const opened: OpenedEngine[] = [];
  const open = async (
    model: string,
    contextLength: number,
    budgetBytes = -1,
  ): Promise<[Generator, OpenedEngine]> => {
    const engine = await openFile(module, model, { contextLength, budgetBytes });
    opened.push(engine);
    return [new Generator(engine.engine, engine.runner), engine];
  };
  afterEach(() => Promise.all(opened.splice(0).map((engine) => engine.close())));

  const windowed = inRoot('tests/golden/cases/gemma2-a/model.gguf');
  const moe = inRoot('tests/golden/cases/moe-a/model.gguf');

  for (const [name, model] of Object.entries({
    tinychat: tinychatFile,
    'a windowed model': windowed,
    experts: moe,
  })) {
    test(`of ${name}: turns, edits and shorter histories equal cold runs bit for bit`, async () => {
      const [warm, warmEngine] = await open(model, 128, 0);
      const text = Array.from({ length: 90 }, (_, index) => 5 + ((index * 37) % 200));
      const histories = [
        text.slice(0, 20),
        text.slice(0, 60), // the next turn
        [...text.slice(0, 40), 9, 9, 9], // an edit in the middle
        text.slice(0, 40), // shorter than what is there
        text.slice(0, 40), // the same again
        [7, ...text], // an edit at the very beginning
        text,
      ];
      for (const history of histories) {
        const again = await generate(warm, history, { maxTokens: 6 });
        const [cold, coldEngine] = await open(model, 128);
        const fresh = await generate(cold, history, { maxTokens: 6 });
        expect(fresh.outcome.stats.reusedTokens).toBe(0);
        expect(again.ids).toEqual(fresh.ids);
        expect(warmEngine.engine.logits(0)).toEqual(coldEngine.engine.logits(0));
        expect(Buffer.from(warmEngine.engine.dumpKv()).equals(coldEngine.engine.dumpKv())).toBe(true);
      }
    });
  }

  test('is reused up to the edit and not further', async () => {
    const [generator] = await open(tinychatFile, 128);
    const text = Array.from({ length: 50 }, (_, index) => 100 + index);
    await generate(generator, text, { maxTokens: 1 });
    const edited = [...text.slice(0, 30), 1, ...text.slice(31)];
    expect((await generate(generator, edited, { maxTokens: 1 })).outcome.stats.reusedTokens).toBe(30);
    expect((await generate(generator, edited, { maxTokens: 1 })).outcome.stats.reusedTokens).toBe(49);
  });

  test('shifts to what a cold run over the remaining tokens computes', async () => {
    const contextLength = 24;
    const [generator] = await open(tinychatFile, contextLength);
    const prompt = whoAreYou.prompt_ids.slice(0, 12);
    const { ids, outcome } = await generate(generator, prompt, { maxTokens: 60, overflow: 'shift' });
    expect(ids).toHaveLength(60);
    expect(outcome.stats.shiftedTokens).toBeGreaterThan(30);
    const [cold] = await open(tinychatFile, contextLength);
    let text = [...prompt];
    for (const id of ids) {
      text = text.length > contextLength ? makeRoom(text, contextLength, rules.keepTokens) : text;
      const next = await generate(cold, text, { maxTokens: 1 });
      expect(next.ids).toEqual([id]);
      text.push(id);
    }
  });

  test('of one position gives one token', async () => {
    const [generator] = await open(tinychatFile, 1);
    const { ids, outcome } = await generate(generator, [5], {});
    expect(ids).toHaveLength(1);
    expect(outcome.finishReason).toBe('context');
    const endless = await generate(generator, [5], { overflow: 'shift', maxTokens: 5 });
    expect(endless.ids).toHaveLength(5);
  });
});

// SPDX-License-Identifier: MIT
// Plans from headers, and what engines then take: the wasm memory never grows beyond its plan, the plan never beyond the
// budget; budgets of live models go up and down without changing a token.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openAsBlob } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { LoadOptions, Model, PlanOptions } from '#web/api/types.js';
import { codeOf, thrownBy, within } from './support/assertions.js';
import { loadTestModule } from './support/engine.js';
import { ModelServer, RangedFile } from './support/model-server.js';
import { tinychatFile } from './support/paths.js';
import { writeSynthetic } from './support/synthetic.js';
import { TestHost } from './support/test-host.js';

let folder: string;
let host: TestHost;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'layerstream-plan-'));
  // A module for each engine, as in a page: their memories are told apart.
  host = new TestHost('http://localhost/', loadTestModule);
});
afterEach(async () => {
  await host.close();
  await rm(folder, { recursive: true, force: true });
});

const fileOf = async (name: string): Promise<File> => new File([await openAsBlob(name)], path.basename(name));
const load = async (name: string, options: LoadOptions): Promise<Model> =>
  within(60_000, host.api.loadModel(await fileOf(name), options), 'loadModel');
const plan = async (name: string, options: PlanOptions) =>
  within(60_000, host.api.planModel(await fileOf(name), { probeMs: 0, ...options }), 'planModel');

async function answer(model: Model, prompt: readonly number[], maxTokens: number) {
  const tokens: number[] = [];
  let stats = null;
  for await (const chunk of model.complete(prompt, { maxTokens, ignoreEos: true })) {
    tokens.push(...chunk.tokens);
    stats = chunk.stats ?? stats;
  }
  return { tokens, stats };
}

const prompt = (count: number): number[] => Array.from({ length: count }, (_, i) => 100 + ((i * 37) % 150));
const mib = 2 ** 20;

const shapes: [string, { layers?: number; vocab?: number }][] = [
  ['tiny-F32', {}],
  ['tiny-Q4_K', { layers: 12, vocab: 60_000 }],
  ['smol135m-Q8_0', { layers: 4, vocab: 2_000 }],
  ['qwen05b-Q4_K', { layers: 3, vocab: 8_000 }],
];

describe('memory', () => {
  test.each(shapes)(
    'of %s stays within its plan, and the plan within the budget',
    async (name, changes) => {
      const file = await writeSynthetic(folder, name, changes);
      const options = { contextLength: 256 };
      const all = await plan(file, { ...options, memoryBudget: Infinity });
      expect(all).toMatchObject({ resident: true, readBytesPerToken: 0, budgetBytes: null, estimate: null });
      expect(all.fileBytes).toBe((await stat(file)).size);
      const least = all.memory.totalBytes - all.memory.pinnedBytes - 250 * 100_000;
      const budgets = [0.1, 0.4, 0.7, 1].map((share) => least + share * (all.memory.totalBytes - least));
      const streamed: number[] = [];
      for (const memoryBudget of ['min' as const, ...budgets.map(Math.floor), Infinity]) {
        const planned = await plan(file, { ...options, memoryBudget }).catch(() => null);
        if (planned === null) {
          continue;
        }
        const { totalBytes, ...items } = planned.memory;
        expect(totalBytes).toBe(Object.values(items).reduce((sum, bytes) => sum + bytes, 0));
        if (typeof memoryBudget === 'number') {
          expect(totalBytes).toBeLessThanOrEqual(memoryBudget);
        }
        const model = await load(file, { ...options, memoryBudget });
        expect(model.info.details).toMatchObject({ plan: { total_bytes: totalBytes } });
        await answer(model, prompt(200), 8);
        const used = await model.memory();
        expect(used.plannedBytes).toBe(totalBytes);
        expect(used.wasmBytes).toBeLessThanOrEqual(totalBytes);
        // What is planned is taken: a plan that promises room it wastes is wrong as well.
        expect(used.wasmBytes).toBeGreaterThan(0.8 * totalBytes - 2 * mib);
        streamed.push(planned.readBytesPerToken);
        await model.dispose();
      }
      expect(streamed.length).toBeGreaterThanOrEqual(3);
      expect(streamed).toEqual([...streamed].sort((a, b) => b - a));
    },
    240_000,
  );
});

describe('planModel', () => {
  test('refuses with the numbers, and what it then asks for is enough', async () => {
    const file = await writeSynthetic(folder, 'tiny-Q4_K', { layers: 12, vocab: 60_000 });
    const error = await thrownBy(() => plan(file, { memoryBudget: mib }));
    expect(error).toMatchObject({
      name: 'OutOfMemoryError',
      code: 'budget_too_small',
      message: expect.stringContaining(`the budget is ${mib}`),
      details: {
        budgetBytes: mib,
        neededBytes: expect.any(Number),
        fixedBytes: expect.any(Number),
        kvBytes: expect.any(Number),
        samplerBytes: expect.any(Number),
        sliceBytes: expect.any(Number),
      },
    });
    const { neededBytes } = (error as { details: { neededBytes: number } }).details;
    expect((await plan(file, { memoryBudget: neededBytes })).memory.totalBytes).toBeLessThanOrEqual(
      neededBytes,
    );
    expect(await codeOf(() => plan(file, { memoryBudget: neededBytes - 1 }))).toBe('budget_too_small');
    const loading = await thrownBy(() => load(file, { memoryBudget: mib }));
    expect(loading).toMatchObject({ code: 'budget_too_small', details: { neededBytes } });
  });

  test('estimates from a probe, and leaves nothing behind', async () => {
    const planned = await plan(tinychatFile, { probeMs: 100 });
    expect(planned.estimate).toMatchObject({
      tokensPerSecond: expect.any(Number),
      computeTokensPerSecond: expect.any(Number),
      readBytesPerSecond: expect.any(Number),
    });
    expect(planned.estimate?.tokensPerSecond).toBeGreaterThan(1);
    expect(host.storages.map((storage) => storage.openCount)).toEqual([0]);
  });

  test('downloads only the header, which loadModel does not fetch again', async () => {
    const bytes = await readFile(await writeSynthetic(folder, 'smol135m-Q8_0', { layers: 2, vocab: 1_000 }));
    const server = await ModelServer.start();
    const file = new RangedFile(bytes);
    const url = server.on('/m.gguf', file.answer);
    try {
      const planned = await within(30_000, host.api.planModel(url, { probeMs: 50 }), 'planModel');
      expect(planned.fileBytes).toBe(bytes.length);
      expect(planned.estimate?.readBytesPerSecond).toBeNull(); // nothing is stored that could be read
      expect(file.sentBytes).toBeLessThan(bytes.length / 4);
      const model = await within(30_000, host.api.loadModel(url, { waitFor: 'stored' }), 'loadModel');
      expect(model.info.fileBytes).toBe(bytes.length);
      expect(file.timesSent.every((times) => times === 1)).toBe(true);
    } finally {
      await server.stop();
    }
  });

  test('of a model of 8 billion parameters fits 200 MiB and takes a prompt of 512 tokens in one sweep', async () => {
    const file = await writeSynthetic(folder, 'llama8b-Q4_K', { layers: 24, sparse: true });
    const planned = await plan(file, { memoryBudget: 200 * mib, contextLength: 512 });
    expect(planned.memory.totalBytes).toBeLessThanOrEqual(200 * mib);
    expect(planned).toMatchObject({ tokensPerSweep: 512, sweeps: 1, resident: false });
  });
});

describe('setBudget', () => {
  test('more acts in the middle of an answer and changes no token', async () => {
    const file = await writeSynthetic(folder, 'smol135m-Q8_0', { layers: 4, vocab: 2_000 });
    const options = { contextLength: 128, unitBytes: 256 << 10 };
    const resident = await load(file, { ...options, memoryBudget: Infinity });
    const known = await answer(resident, prompt(20), 24);
    const model = await load(file, { ...options, memoryBudget: 'min' });
    const tokens: number[] = [];
    let before = 0;
    for await (const chunk of model.complete(prompt(20), { maxTokens: 24, ignoreEos: true })) {
      tokens.push(...chunk.tokens);
      if (before === 0) {
        before = (await model.memory()).pinnedBytes;
        const after = await model.setBudget(Infinity);
        expect(after.pinnedBytes).toBeGreaterThan(before + after.totalWeightBytes / 2);
        before = after.pinnedBytes;
      }
    }
    expect(tokens).toEqual(known.tokens);
    expect(model.info.details).toMatchObject({ plan: { streamed_bytes_per_pass: 0 } });
    const again = await answer(model, [...prompt(20), ...tokens], 8);
    expect(again.stats?.bytesRead).toBeLessThan(100_000);
  });

  test('less moves the conversation to a smaller engine, which goes on with the same tokens', async () => {
    const file = await writeSynthetic(folder, 'smol135m-Q8_0', { layers: 4, vocab: 2_000 });
    const options = { contextLength: 128, unitBytes: 256 << 10 };
    const model = await load(file, { ...options, memoryBudget: Infinity });
    const first = await answer(model, prompt(20), 8);
    const conversation = [...prompt(20), ...first.tokens, 5, 6, 7];
    const second = await answer(model, conversation, 8);
    const before = await model.memory();
    const budget = before.plannedBytes - before.pinnedBytes / 2;

    await answer(model, prompt(20), 8);
    const after = await model.setBudget(budget);
    expect(after.plannedBytes).toBeLessThanOrEqual(budget);
    expect(after.wasmBytes).toBeLessThanOrEqual(budget);
    const again = await answer(model, conversation, 8);
    expect(again.tokens).toEqual(second.tokens);
    expect(again.stats?.reusedTokens).toBe(27); // all but the last token of the first answer was in the cache
  });

  test('a budget that is too small is refused, and the model goes on', async () => {
    const model = await load(tinychatFile, {});
    const known = await answer(model, prompt(8), 8);
    expect(await codeOf(() => model.setBudget(mib))).toBe('budget_too_small');
    expect(await codeOf(() => model.setBudget(-5))).toBe('bad_argument');
    expect((await answer(model, prompt(8), 8)).tokens).toEqual(known.tokens);
    expect((await model.setBudget('min')).pinnedBytes).toBe(0);
    expect((await answer(model, prompt(8), 8)).tokens).toEqual(known.tokens);
  });

  test('less is refused while an answer is made', async () => {
    const model = await load(tinychatFile, {});
    for await (const _ of model.complete(prompt(8), { maxTokens: 4, ignoreEos: true })) {
      expect(await codeOf(() => model.setBudget('min'))).toBe('busy');
      break;
    }
  });

  test('a model that moved is released once', async () => {
    const model = await load(tinychatFile, {});
    await model.setBudget('min');
    expect(host.storages.map((storage) => storage.openCount)).toEqual([1]);
    await model.dispose();
    expect(host.storages.map((storage) => storage.openCount)).toEqual([0]);
  });
});

// SPDX-License-Identifier: MIT
// Twelve things that users of other runtimes report, as what must not happen here. Each is tested more thoroughly where
// it is made; this suite is the promise in one place.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { LoadOptions, Model, TokenLogprobs } from '#web/api/types.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { ContextFullError, OutOfMemoryError } from '#web/errors.js';
import { MemoryBackend } from '#web/storage/memory-folder.js';
import { ModelStore } from '#web/storage/model-store.js';
import { OpfsBackend } from '#web/storage/opfs-folder.js';
import { codeOf, thrownBy, within } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { testRangeBytes } from './support/download.js';
import { loadTestModule } from './support/engine.js';
import { FakeOpfs } from './support/fake-opfs.js';
import { ModelServer, RangedFile, whole } from './support/model-server.js';
import { inRoot, tinychatFile } from './support/paths.js';
import { StorageTab } from './support/storage-tab.js';
import { TestHost } from './support/test-host.js';

const bytes = readFileSync(tinychatFile);
const hello = chats[0] as KnownChat;
const knownTokens = replyOf(hello).ids.slice(0, 3);

let module: LayerstreamModule;
let server: ModelServer;
let folder: string;
let opfs: FakeOpfs;
let host: TestHost;
let file: RangedFile;
let url: string;

const storeOf = async (files: FakeOpfs): Promise<ModelStore> =>
  new ModelStore(await OpfsBackend.open(files.root), testRangeBytes);

beforeAll(async () => {
  module = await loadTestModule();
  server = await ModelServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-test-'));
  opfs = new FakeOpfs(folder);
  file = new RangedFile(bytes);
  url = server.on('/models/tinychat.gguf', file.answer);
  host = new TestHost(server.url('/page/'), async () => module);
  host.store = await storeOf(opfs);
});
afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
  expect(module.liveEngines()).toBe(0);
});

const load = (options: LoadOptions = {}): Promise<Model> =>
  within(20_000, host.api.loadModel(url, { kvType: 'f32', ...options }), 'loadModel');
const loadCase = (name: string, options: LoadOptions = {}): Promise<Model> => {
  const content = readFileSync(inRoot('tests/golden/cases', name, 'model.gguf'));
  return host.api.loadModel(new File([content], `${name}.gguf`), { kvType: 'f32', ...options });
};

async function expectAnswer(model: Model): Promise<void> {
  const tokens: number[] = [];
  const answer = async (): Promise<void> => {
    for await (const chunk of model.chat(hello.messages, { maxTokens: knownTokens.length })) {
      tokens.push(...chunk.tokens);
    }
  };
  await within(30_000, answer(), 'the answer');
  expect(tokens).toEqual(knownTokens);
}

test('an interrupted download is never taken as complete', async () => {
  let gone = true;
  const cut = new RangedFile(bytes, {
    fault: (request) =>
      !gone ? null : request === 1 ? 4_000_000 : (_, response) => void response.socket?.destroy(),
  });
  server.on('/models/tinychat.gguf', cut.answer);
  expect(await codeOf(() => load({ waitFor: 'stored' }))).toBe('network_failed');
  expect(await host.api.listModels()).toMatchObject([{ state: 'partial', complete: false }]);
  expect(await codeOf(() => load({ waitFor: 'stored' }))).toBe('network_failed');
  gone = false;
  const model = await load({ waitFor: 'stored' });
  await expectAnswer(model);
  expect(await host.api.listModels()).toMatchObject([{ state: 'complete', complete: true }]);
  await model.dispose();
});

test('an error page is never kept as weights', async () => {
  const page = Buffer.from(`<!doctype html><title>Sign in</title>${' '.repeat(bytes.length)}`);
  const pages: [string, string][] = [
    ['text/html; charset=utf-8', 'bad_body'],
    ['application/json', 'bad_body'],
    ['application/octet-stream', 'bad_magic'],
  ];
  for (const [type, code] of pages) {
    server.on('/models/tinychat.gguf', whole(page, { 'content-type': type }));
    expect(await codeOf(() => load())).toBe(code);
    expect(await host.api.listModels()).toEqual([]);
  }
  server.on('/models/tinychat.gguf', file.answer);
  const model = await load();
  await expectAnswer(model);
  await model.dispose();
});

test('the call after an abort gives its whole answer, not an empty one', async () => {
  const model = await load();
  for (const moment of ['prefill', 'decode'] as const) {
    const abort = new AbortController();
    const text = model
      .chat(hello.messages, {
        signal: abort.signal,
        ignoreEos: true, // the answer must not end before the abort arrives
        onProgress: ({ phase }) => phase === moment && abort.abort(new Error('enough')),
      })
      .text();
    expect(await thrownBy(() => within(10_000, text))).toMatchObject({ message: 'enough' });
    await expectAnswer(model);
  }
  await model.dispose();
});

test('a prompt longer than the context is refused with both numbers, soon', async () => {
  const model = await load({ contextLength: 32 });
  const answer = model.complete('word '.repeat(100), { maxTokens: 1 }).text();
  const error = await thrownBy(() => within(5_000, answer));
  expect(error).toBeInstanceOf(ContextFullError);
  expect(error).toMatchObject({ details: { contextLength: 32, promptTokens: expect.any(Number) } });
  await expectAnswer(model);
  await model.dispose();
});

test('a load that needs more memory than there is ends, with the numbers or the reason', async () => {
  // Keys and values of this context need more than 32 bits of addresses.
  const huge = load({ contextLength: 2 ** 26, memoryBudget: 2 ** 45 });
  expect(await thrownBy(() => within(10_000, huge))).toBeInstanceOf(OutOfMemoryError);
  const small = load({ memoryBudget: 100_000 });
  expect(await thrownBy(() => within(10_000, small))).toMatchObject({
    code: 'budget_too_small',
    details: { neededBytes: expect.any(Number) },
  });
  const model = await load();
  await expectAnswer(model);
  await model.dispose();
});

test('a load from the store needs no more memory than the first one, and never the file in one piece', async () => {
  const options = { memoryBudget: 'min', unitBytes: 64 << 10 } as const;
  const wasmBytes: number[] = [];
  for (let visit = 0; visit < 2; ++visit) {
    opfs = opfs.restart();
    host.store = await storeOf(opfs);
    host.crashes.forEach((worker) => worker.crash('the page was left'));
    module = await loadTestModule();
    const model = await load({ ...options, waitFor: 'stored' });
    await expectAnswer(model);
    wasmBytes.push((await model.memory()).wasmBytes);
    expect(opfs.largestRead).toBeLessThanOrEqual(1 << 20);
    await model.dispose();
  }
  expect(file.requests).toBe(1);
  expect(wasmBytes[1]).toBeLessThanOrEqual(wasmBytes[0] ?? 0);
});

test('offsets past 2 GiB and 4 GiB are those bytes, not others', async () => {
  const size = 5 * 2 ** 30 + 123;
  const bytesAt = (first: number, count: number): Uint8Array =>
    Uint8Array.from({ length: count }, (_, index) => {
      const at = first + index;
      return at < 4 ? 'GGUF'.charCodeAt(at) : (at % 251) ^ Math.floor(at / 2 ** 31);
    });
  const far = async (_: string, init: RequestInit): Promise<Response> => {
    const [, first = '0', last = '0'] =
      /bytes=(\d+)-(\d+)/.exec(new Headers(init.headers).get('range') ?? '') ?? [];
    const [from, to] = [Number(first), Math.min(Number(last), size - 1)];
    const headers = { 'content-range': `bytes ${from}-${to}/${size}`, etag: '"v1"' };
    return new Response(bytesAt(from, to - from + 1) as BodyInit, { status: 206, headers });
  };
  const store = new ModelStore(new MemoryBackend());
  const tab = new StorageTab(opfs, { fetch: far, openStore: async () => ({ store, reason: null }) });
  const { modelId, partBytes } = await tab.acquire('https://models.example/5gib.gguf', { fetch: 'demand' });
  expect(partBytes).toEqual([size]);
  for (const at of [2 ** 31 - 700, 2 ** 31, 2 ** 32 - 700, 2 ** 32 + 1, size - 1400]) {
    const read = await tab.read(modelId, at, 1400);
    expect([at, Buffer.compare(read, bytesAt(at, 1400))]).toEqual([at, 0]);
  }
  await tab.release(modelId);
  tab.close();
});

test('no byte is fetched twice: not by a plan, a second load at once, or a second visit', async () => {
  await host.api.planModel(url, { probeMs: 0 });
  const models = await Promise.all([load(), load({ waitFor: 'stored' })]);
  await models[0].stored;
  await Promise.all(models.map((model) => model.dispose()));
  const again = await load();
  await expectAnswer(again);
  await again.dispose();
  expect(file.timesSent.every((times) => times === 1)).toBe(true);
});

test('memory stays near the size of the file when all is resident, and does not grow with it when streamed', async () => {
  module = await loadTestModule();
  const streamed = await load({ memoryBudget: 'min', unitBytes: 64 << 10, contextLength: 64 });
  await expectAnswer(streamed);
  const small = await streamed.memory();
  await streamed.dispose();
  expect(small.wasmBytes).toBeLessThan(bytes.length);
  expect(small.peakResidentWeightBytes).toBeLessThan(bytes.length / 4);
  module = await loadTestModule();
  const resident = await load({ contextLength: 64 });
  await expectAnswer(resident);
  const { wasmBytes, plannedBytes } = await resident.memory();
  expect(wasmBytes).toBeLessThanOrEqual(plannedBytes);
  expect(plannedBytes).toBeLessThan(bytes.length * 2); // with tokenizer, cache and activations
  await resident.dispose();
});

test('a model trained with a window attends within it, unless told otherwise', async () => {
  const layersTimesWindow = 2 * 8; // of this model
  const ids = Array.from({ length: 40 }, (_, index) => 10 + ((index * 37) % 200));
  const last = async (model: Model, prompt: number[]): Promise<TokenLogprobs[]> => {
    const all: TokenLogprobs[] = [];
    for await (const chunk of model.complete(prompt, { maxTokens: 1, logprobs: 20, ignoreEos: true })) {
      all.push(...(chunk.logprobs ?? []));
    }
    return all;
  };
  const changedAt = (back: number): number[] =>
    ids.map((id, index) => (index === ids.length - 1 - back ? 5 : id));
  for (const [attention, reaches] of [
    ['trained', false],
    ['full', true],
  ] as const) {
    const model = await loadCase('phi3-window-a', { attention });
    const known = await last(model, ids);
    expect(known).toHaveLength(1);
    expect(await last(model, changedAt(3))).not.toEqual(known);
    const changed = await last(model, changedAt(layersTimesWindow));
    expect(JSON.stringify(changed) !== JSON.stringify(known)).toBe(reaches);
    await model.dispose();
  }
});

test('a template that writes the BOS token itself does not get a second one', async () => {
  const model = await loadCase('llama-plain-a');
  expect(model.info.specialTokens.addBos).toBe(true);
  const promptTokens = async (template: string): Promise<number | undefined> => {
    let count: number | undefined;
    for await (const { stats } of model.chat(hello.messages, { template, maxTokens: 1 })) {
      count = stats?.promptTokens ?? count;
    }
    return count;
  };
  const text = '{{ messages[0].content }}';
  const once = await model.countTokens('Hello!', { addSpecial: true });
  expect(once).toBe((await model.countTokens('Hello!')) + 1);
  expect(hello.messages[0]?.content).toBe('Hello!');
  expect(await promptTokens(text)).toBe(once);
  expect(await promptTokens(`{{ bos_token }}${text}`)).toBe(once);
  await model.dispose();
});

test('a character that takes several tokens arrives whole in the stream', async () => {
  const model = await load();
  const ids = await model.tokenize('🦜');
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(1);
  // Each is wanted more than the next, and less once it was said.
  const logitBias = Object.fromEntries(ids.map((id, index) => [id, 1000 - 100 * index]));
  const chunks: string[] = [];
  const options = { logitBias, presencePenalty: 600, maxTokens: ids.length };
  for await (const { text, tokens } of model.complete('A parrot: ', options)) {
    expect(tokens.every((id) => ids.includes(id))).toBe(true);
    chunks.push(text);
  }
  expect(chunks.join('')).toBe('🦜');
  expect(chunks.filter((text) => text !== '')).toEqual(['🦜']);
  await model.dispose();
});

// SPDX-License-Identifier: MIT
// Faults that end a worker, a connection or a load in the middle: a typed error or a right result, in time; what was
// verified stays, and the next attempt is whole. docs/faults.md lists every fault with its test, here and elsewhere.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { LoadOptions, Model } from '#web/api/types.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { isErrorCode, LayerstreamError } from '#web/errors.js';
import { ModelStore } from '#web/storage/model-store.js';
import { OpfsBackend } from '#web/storage/opfs-folder.js';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { testRangeBytes } from './support/download.js';
import { loadTestModule } from './support/engine.js';
import { FakeOpfs } from './support/fake-opfs.js';
import { ModelServer, RangedFile, type Answer } from './support/model-server.js';
import { inRoot, tinychatFile } from './support/paths.js';
import { Random } from './support/random.js';
import { StorageTab } from './support/storage-tab.js';
import { quickRetry, TestHost } from './support/test-host.js';

/** Of the download code. */
const connections = 3;

let folder: string;
let opfs: FakeOpfs;
let server: ModelServer;
let tabs: StorageTab[];
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-test-'));
  opfs = new FakeOpfs(folder);
  tabs = [];
});
afterEach(() => {
  tabs.forEach((tab) => tab.close());
  server.breakConnections();
  rmSync(folder, { recursive: true, force: true });
});

function openTab(options: ConstructorParameters<typeof StorageTab>[1] = {}): StorageTab {
  const tab = new StorageTab(opfs, options);
  tabs.push(tab);
  return tab;
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const silent: Answer = () => undefined;

describe('connections', () => {
  const bytes = modelBytes(1_500_000);

  test('that are reset at every k-th request cost no more than what was on its way', async () => {
    for (const k of [1, 2, 3, 5]) {
      const file = new RangedFile(bytes, { fault: (request) => (request % k === 0 ? 200_000 : null) });
      const url = server.on(`/every-${k}.gguf`, file.answer);
      const tab = openTab();
      const { modelId } = await tab.acquire(url);
      await tab.follow(modelId);
      expect(isEqual(await tab.read(modelId, 0, bytes.length), bytes)).toBe(true);
      expect(file.sentBytes).toBeLessThan(bytes.length * 1.05);
      await tab.release(modelId);
    }
  });

  test('that the browser refuses (CORS) are network_failed with the URL; nothing is kept, and permission helps', async () => {
    const file = new RangedFile(bytes);
    const url = server.on('/cors.gguf', file.answer);
    let permitted = false;
    const tab = openTab({
      fetch: (target, init) =>
        permitted ? fetch(target, init) : Promise.reject(new TypeError('Failed to fetch')),
    });
    expect(await thrownBy(() => tab.acquire(url))).toMatchObject({
      code: 'network_failed',
      details: { url },
    });
    expect(await tab.page.call('list', {})).toEqual({ models: [] });
    permitted = true;
    const { modelId } = await tab.acquire(url);
    await tab.follow(modelId);
    expect(file.timesSent.every((times) => times === 1)).toBe(true);
  });

  test('that died while the device slept are noticed when it wakes, and the rest is fetched', async () => {
    let [asleep, slept] = [false, false];
    const file = new RangedFile(bytes, {
      bytesPerSecond: 3e6,
      fault: () => (asleep ? silent : null),
    });
    // What the server still sends reaches nobody: the connection is dead, and nobody says so.
    const url = server.on('/sleep.gguf', file.answer);
    const mute = (response: Response): Response => {
      const through = response.body?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform: (chunk, controller) =>
            asleep ? new Promise<never>(() => undefined) : controller.enqueue(chunk),
        }),
      );
      return new Response(through ?? null, response);
    };
    const tab = openTab({
      retry: { ...quickRetry, stallMs: 1_000 },
      fetch: async (target, init) => mute(await fetch(target, init)),
    });
    const { modelId } = await tab.acquire(url);
    const following = tab.follow(modelId, ({ loadedBytes }) => {
      if (!slept && loadedBytes > 400_000) {
        [asleep, slept] = [true, true];
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500); // no timer runs
        setTimeout(() => (asleep = false), 50);
      }
    });
    await following;
    expect(slept).toBe(true);
    expect(isEqual(await tab.read(modelId, 0, bytes.length), bytes)).toBe(true);
    expect(file.requests).toBeGreaterThan(1);
  });
});

describe('whatever goes wrong', () => {
  const bytes = modelBytes(400_000);

  function anyFault(random: Random): Answer | number | null {
    const status =
      (code: number, headers = {}): Answer =>
      (_, response) =>
        void response.writeHead(code, headers).end('no');
    const faults: (Answer | number | null)[] = [
      null,
      null,
      random.below(bytes.length),
      (_, response) => void response.socket?.destroy(),
      silent,
      status(500),
      status(429, { 'retry-after': '0' }),
      status(404),
      status(416),
      status(200, { 'content-type': 'text/html' }),
      status(204),
      status(206, { 'content-range': `bytes 7-8/${bytes.length}` }),
      status(206),
      (_, response) => {
        response.writeHead(200, { 'content-length': bytes.length });
        response.write(bytes.subarray(0, random.below(bytes.length)), () => response.socket?.destroy());
      },
    ];
    return faults[random.below(faults.length)] ?? null;
  }

  test('a load ends in time, with a typed error or the right bytes; the next one fetches only what is missing', async () => {
    const outcomes = new Map<string, number>();
    for (let seed = 1; seed <= 30; ++seed) {
      const random = new Random(seed);
      const harmful = new RangedFile(bytes, {
        fault: () => anyFault(random),
        ...(random.below(2) === 0 ? {} : { bytesPerSecond: 4e6 }),
      });
      const good = new RangedFile(bytes);
      // A request that the first tab sent may arrive after its end.
      const url = server.on(`/any-${seed}.gguf`, (request, response) =>
        (request.headers['x-attempt'] === '2' ? good : harmful).answer(request, response),
      );
      const tab = openTab({ retry: { ...quickRetry, stallMs: 40 } });
      const abort = new AbortController();
      const ending = random.below(4);
      const timer = setTimeout(
        () => (ending === 0 ? tab.kill() : ending === 1 && abort.abort(new Error('enough'))),
        random.below(100),
      );
      const outcome = await (async () => {
        const { modelId } = await tab.acquire(url, {}, abort.signal);
        await tab.follow(modelId);
        const stored = await tab.read(modelId, 0, bytes.length);
        await tab.release(modelId);
        return isEqual(stored, bytes) ? 'right' : 'wrong';
      })().catch((error: unknown) =>
        error instanceof LayerstreamError ? error.code : error instanceof Error ? error.message : 'unknown',
      );
      clearTimeout(timer);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      expect(
        ['right', 'enough', 'the worker is gone'].includes(outcome) || isErrorCode(outcome)
          ? 'fine'
          : outcome,
      ).toBe('fine');
      tab.kill();
      expect(opfs.openHandles).toBe(0);

      opfs = opfs.restart();
      const next = openTab();
      const kept = (await next.page.call('list', {})).models[0]?.bytes ?? 0;
      const { modelId } = await next.acquire(url, { headers: { 'x-attempt': '2' } });
      await next.follow(modelId);
      expect(isEqual(await next.read(modelId, 0, bytes.length), bytes)).toBe(true);
      expect([seed, good.sentBytes]).toEqual([seed, bytes.length - kept]);
      await next.release(modelId);
      await next.page.call('remove', { url });
      next.close();
    }
    // The faults are not so many that nothing ever works, nor so few that nothing is tried.
    expect(outcomes.get('right')).toBeGreaterThan(3);
    expect(outcomes.size).toBeGreaterThan(5);
  }, 180_000);
});

describe('with an engine', () => {
  const bytes = readFileSync(tinychatFile);
  const hello = chats[0] as KnownChat;
  const known = replyOf(hello).ids.slice(0, 2);
  let module: LayerstreamModule;
  let host: TestHost;
  let file: RangedFile;
  let url: string;

  const store = async (): Promise<ModelStore> =>
    new ModelStore(await OpfsBackend.open(opfs.root), testRangeBytes);
  const load = (options: LoadOptions = {}): Promise<Model> =>
    within(20_000, host.api.loadModel(url, { kvType: 'f32', ...options }), 'loadModel');

  async function expectAnswer(model: Model): Promise<void> {
    const tokens: number[] = [];
    const answer = async (): Promise<void> => {
      for await (const chunk of model.chat(hello.messages, { maxTokens: 2 })) {
        tokens.push(...chunk.tokens);
      }
    };
    await within(30_000, answer(), 'the answer');
    expect(tokens).toEqual(known);
  }

  /** At least so much of the download has been stored. */
  async function storedAtLeast(count: number): Promise<void> {
    while (((await host.api.listModels())[0]?.bytes ?? 0) < count) {
      await pause(10);
    }
  }

  beforeAll(async () => {
    module = await loadTestModule();
  });
  beforeEach(async () => {
    host = new TestHost(server.url('/page/'), async () => module);
    host.store = await store();
    file = new RangedFile(bytes, { bytesPerSecond: 4e6 });
    url = server.on('/models/tinychat.gguf', file.answer);
  });
  afterEach(async () => {
    await host.close();
    expect(module.liveEngines()).toBe(0);
  });

  test('the storage worker dies in the middle of a download: all that waits is told, the next load fetches the rest', async () => {
    const model = await load();
    const answer = model.chat(hello.messages).text();
    answer.catch(() => undefined);
    await within(10_000, storedAtLeast(2_000_000));
    opfs.kill();
    host.crashes.filter(({ what }) => what === 'storage').forEach((worker) => worker.crash('killed'));
    expect(await codeOf(() => within(1_000, answer))).toBe('worker_crashed');
    expect(await codeOf(() => within(1_000, model.stored))).toBe('worker_crashed');
    expect(await codeOf(() => within(1_000, model.memory()))).toBe('worker_crashed');

    opfs = opfs.restart();
    host.store = await store();
    const [kept, before] = [(await host.store.list())[0]?.bytes ?? 0, file.sentBytes];
    expect(kept).toBeGreaterThanOrEqual(2_000_000);
    const next = await load();
    await expectAnswer(next);
    await next.stored;
    expect(file.timesSent.every((times) => times >= 1)).toBe(true);
    expect(file.sentBytes - before).toBeLessThanOrEqual(bytes.length - kept + connections * testRangeBytes);
    await next.dispose();
  });

  test('the engine worker dies in the middle of a download: it ends, keeps what it has, and the next load goes on', async () => {
    const model = await load();
    const answer = model.chat(hello.messages).text();
    answer.catch(() => undefined);
    await within(10_000, storedAtLeast(1_000_000));
    host.crashes.filter(({ what }) => what === 'engine').forEach((worker) => worker.crash('killed'));
    expect(await codeOf(() => within(1_000, answer))).toBe('worker_crashed');
    expect(await codeOf(() => within(1_000, model.stored))).toBe('disposed');
    await pause(50);
    expect(host.storages[0]?.openCount).toBe(0);
    expect(opfs.openHandles).toBe(0);
    const [kept, requests] = [(await host.api.listModels())[0]?.bytes ?? 0, file.requests];
    await pause(100);
    expect(file.requests).toBe(requests);
    expect(kept).toBeGreaterThanOrEqual(1_000_000);
    const next = await load();
    await expectAnswer(next);
    await next.stored;
    const sent = file.sentBytes;
    expect(sent).toBeLessThanOrEqual(bytes.length + connections * testRangeBytes + 4 * 65_536);
    await next.dispose();
  });

  test('a connection that falls silent during an answer is begun again, and the answer is the known one', async () => {
    host.retry = { ...quickRetry, stallMs: 2_000 }; // computing shares this thread
    const half: Answer = (_, response) => {
      response.writeHead(206, {
        'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`,
        etag: '"v1"',
      });
      response.write(bytes.subarray(0, 3_000_000));
    };
    const halting = new RangedFile(bytes, { fault: (request) => (request === 1 ? half : null) });
    server.on('/models/tinychat.gguf', halting.answer);
    const model = await load();
    await expectAnswer(model);
    expect(halting.requests).toBeGreaterThan(1);
    await model.dispose();
  });

  test('an abort at any event of a load rejects with its reason, leaves nothing open, and the next load is whole', async () => {
    let stages = 0;
    for (let stopAt = 0; ; ++stopAt) {
      file = new RangedFile(bytes);
      let events = 0;
      const abort = new AbortController();
      const event = (): void => {
        if (events === stopAt) {
          abort.abort(new Error('enough'));
        }
        events += 1;
      };
      server.on('/models/tinychat.gguf', (request, response) => {
        event();
        file.answer(request, response);
      });
      event(); // before anything is asked for
      const outcome = await load({ signal: abort.signal, waitFor: 'stored', onProgress: event }).catch(
        (error: unknown) => error,
      );
      if (!(outcome instanceof Error)) {
        await expectAnswer(outcome as Model);
        await (outcome as Model).dispose();
        break;
      }
      expect(outcome).toMatchObject({ message: 'enough' });
      await within(5_000, untilClosed());
      stages += 1;
    }
    expect(stages).toBeGreaterThan(4);
  });

  async function untilClosed(): Promise<void> {
    while ((host.storages[0]?.openCount ?? 0) > 0 || opfs.openHandles > 0) {
      await pause(5);
    }
  }

  test('loading and disposing 20 times, in the middle of the download, keeps the memory flat and no handle', async () => {
    file = new RangedFile(bytes, { bytesPerSecond: 2e6 });
    server.on('/models/tinychat.gguf', file.answer);
    const sizes: number[] = [];
    for (let round = 0; round < 20; ++round) {
      const model = await load();
      await model.dispose();
      await host.engines.at(-1)?.dispose();
      await within(5_000, untilClosed());
      expect(module.liveEngines()).toBe(0);
      sizes.push(module.HEAPU8.byteLength);
    }
    expect(sizes.at(-1)).toBe(sizes[2]);
    const model = await load();
    await expectAnswer(model);
    await model.dispose();
  }, 180_000);
});

describe('the table of faults', () => {
  const rows = readFileSync(inRoot('docs/faults.md'), 'utf8')
    .split('\n')
    .map((line) => /^\| ([^|]+) \| `([^`]+\.ts)` \| (.+) \|$/.exec(line))
    .filter((match) => match !== null)
    .map(([, fault = '', name = '', title = '']) => ({ fault, name, title }));

  test('names tests that exist', () => {
    expect(rows.length).toBeGreaterThan(30);
    const missing = rows.filter(({ name, title }) => {
      const source = inRoot('tests', name);
      return !existsSync(source) || !readFileSync(source, 'utf8').includes(title);
    });
    expect(missing).toEqual([]);
  });
});

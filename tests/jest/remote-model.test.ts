// SPDX-License-Identifier: MIT
// A page without a file system, and a model that memory does not hold: it stays on its server and is read range by range.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { MemoryBackend } from '#web/storage/memory-folder.js';
import { ModelStore } from '#web/storage/model-store.js';
import { StorageQuotaError } from '#web/errors.js';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { loadTestModule } from './support/engine.js';
import { FakeOpfs } from './support/fake-opfs.js';
import { ModelServer, RangedFile, whole, type RangedOptions } from './support/model-server.js';
import { tinychatFile } from './support/paths.js';
import { StorageTab } from './support/storage-tab.js';
import { quickRetry, TestHost } from './support/test-host.js';

const reason = 'this browser gives pages no file system';
const memoryBytes = 8 << 20;
const bytes = modelBytes(10_000_000);

let server: ModelServer;
let tab: StorageTab;
beforeEach(async () => {
  server = await ModelServer.start();
  const store = new ModelStore(new MemoryBackend(memoryBytes));
  tab = new StorageTab(new FakeOpfs(''), {
    openStore: async () => ({ store, reason }),
    retry: { ...quickRetry, stallMs: 1_000 },
  });
});
afterEach(async () => {
  tab.close();
  await server.stop();
});

function serve(options: RangedOptions = {}): { url: string; file: RangedFile } {
  const file = new RangedFile(bytes, options);
  return { url: server.on('/m.gguf', file.answer), file };
}

async function expectRead(modelId: number, offset: number, count: number): Promise<void> {
  const read = await tab.read(modelId, offset, count);
  expect(Buffer.compare(read, bytes.subarray(offset, offset + count))).toBe(0);
}

test('a model that fits is kept in memory, a larger one is left on its server, each with the reason', async () => {
  const small = server.on('/small.gguf', new RangedFile(modelBytes(1_000_000)).answer);
  expect(await tab.acquire(small)).toMatchObject({ storage: 'memory', storageReason: reason });
  const { url, file } = serve();
  const acquired = await tab.acquire(url);
  expect(acquired).toMatchObject({ storage: 'network', isWhole: false, partBytes: [bytes.length] });
  expect(acquired.storageReason).toContain(reason);
  expect(acquired.storageReason).toContain('too large');
  await tab.follow(acquired.modelId);
  const before = file.requests;
  await expectRead(acquired.modelId, 9_000_000, 1_000_000);
  await expectRead(acquired.modelId, 0, 4_000_000);
  expect(file.ranges.slice(before)).toEqual([
    { first: 9_000_000, last: 9_999_999 },
    { first: 0, last: 3_999_999 },
  ]);
  await tab.release(acquired.modelId);
  expect(tab.service.openCount).toBe(1);
  expect((await tab.page.call('list', {})).models.map((model) => model.url)).toEqual([small]);
});

test('a read goes on at the byte where its connection broke, or fell silent', async () => {
  const { url, file } = serve({
    fault: (request) =>
      request === 2
        ? 300_000
        : request === 3
          ? (_, response) => {
              response.writeHead(206, { 'content-range': `bytes 300000-999999/${bytes.length}` });
              response.write(bytes.subarray(300_000, 400_000));
            }
          : null,
  });
  const { modelId } = await tab.acquire(url);
  await expectRead(modelId, 0, 1_000_000);
  expect(file.ranges.at(-1)).toEqual({ first: 400_000, last: 999_999 });
});

test('a file that changed is a typed error, and so is a server that is gone', async () => {
  const { url } = serve();
  const { modelId } = await tab.acquire(url);
  server.on('/m.gguf', new RangedFile(modelBytes(10_000_000, 9), { etag: '"v2"' }).answer);
  expect(await codeOf(() => tab.read(modelId, 5_000_000, 1000))).toBe('remote_changed');
  server.on('/m.gguf', (request) => void request.socket.destroy());
  expect(await codeOf(() => tab.read(modelId, 5_000_000, 1000))).toBe('network_failed');
  serve();
  await expectRead(modelId, 5_000_000, 1000);
});

test('a server that sends no ranges is storage_quota with the numbers, and nothing is kept', async () => {
  const url = server.on('/m.gguf', whole(bytes));
  const error = await thrownBy(() => tab.acquire(url));
  expect(error).toBeInstanceOf(StorageQuotaError);
  expect(error).toMatchObject({
    code: 'storage_quota',
    details: { url, neededBytes: bytes.length, availableBytes: memoryBytes },
  });
  expect(await tab.page.call('list', {})).toEqual({ models: [] });
});

test('the end of the model ends its reads', async () => {
  const { url } = serve({ fault: (request) => (request === 1 ? null : () => undefined) });
  const { modelId } = await tab.acquire(url);
  const reading = tab.read(modelId, 0, 1000);
  reading.catch(() => undefined);
  await pause(50);
  await tab.release(modelId);
  expect(await codeOf(() => within(500, reading))).toBe('disposed');
});

test('the whole package answers from it as from anywhere', async () => {
  const module = await loadTestModule();
  const url = server.on('/tinychat.gguf', new RangedFile(readFileSync(tinychatFile)).answer);
  const host = new TestHost(server.url('/'), async () => module);
  host.store = new ModelStore(new MemoryBackend(memoryBytes));
  host.storageReason = reason;
  const model = await host.api.loadModel(url, { kvType: 'f32', memoryBudget: 'min' });
  expect(model.info.storage).toBe('network');
  expect(model.info.storageReason).toContain(reason);
  const hello = chats[0] as KnownChat;
  const tokens: number[] = [];
  for await (const chunk of model.chat(hello.messages, { maxTokens: 2 })) {
    tokens.push(...chunk.tokens);
  }
  expect(tokens).toEqual(replyOf(hello).ids.slice(0, 2));
  await model.dispose();
  await host.close();
});

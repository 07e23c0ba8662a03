// SPDX-License-Identifier: MIT
// The storage worker's code in node: the page's client on one channel, an engine's reads on another.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from '#web/protocol/client.js';
import { Dispatcher } from '#web/protocol/dispatcher.js';
import type { LoadProgress } from '#web/protocol/data.js';
import type { ReadMethods, StorageMethods } from '#web/protocol/methods.js';
import { OpfsStore } from '#web/storage/opfs-store.js';
import { StorageService } from '#web/worker/storage-service.js';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';
import { FakeOpfs } from './support/fake-opfs.js';
import { ModelServer, stalled, whole } from './support/model-server.js';

const bytes = modelBytes(3_000_000);
let folder: string;
let opfs: FakeOpfs;
let server: ModelServer;
let service: StorageService;
let page: Client<StorageMethods>;
let ports: MessagePort[];

function connect(): Client<StorageMethods> {
  service = new StorageService({
    openStore: async () => ({ store: await OpfsStore.open(opfs.root), reason: null }),
    holdLock: async () => false,
  });
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  new Dispatcher<StorageMethods>(port2, service.handlers);
  return new Client<StorageMethods>(port1);
}

async function reads(): Promise<Client<ReadMethods>> {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1);
  await page.call('attach', { port: port2 }, { transfer: [port2] });
  return new Client<ReadMethods>(port1);
}

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-test-'));
  opfs = new FakeOpfs(folder);
  server = await ModelServer.start();
  ports = [];
  page = connect();
});
afterEach(async () => {
  ports.forEach((port) => port.close());
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const acquire = (url: string, options: Parameters<typeof page.call<'acquire'>>[2] = {}) =>
  page.call('acquire', { source: { kind: 'url', url }, headers: {} }, options);

describe('acquire', () => {
  test('downloads once; the next page reads from the store without any request', async () => {
    const url = server.on('/m.gguf', whole(bytes));
    const progress: LoadProgress[] = [];
    const first = await acquire(url, { onProgress: (one) => progress.push(one) });
    expect(first).toMatchObject({ storage: 'opfs', storageReason: null, partBytes: [bytes.length] });
    expect(progress.at(-1)).toMatchObject({ loadedBytes: bytes.length });
    await page.call('release', { modelId: first.modelId });

    opfs = opfs.restart();
    page = connect();
    expect(await acquire(url)).toMatchObject({ partBytes: [bytes.length] });
    expect(server.requests).toHaveLength(1);
  });

  test('two loads of the same model at once download it once and share it', async () => {
    const url = server.on('/m.gguf', whole(bytes));
    const [one, two] = await Promise.all([acquire(url), acquire(url)]);
    expect(server.requests).toHaveLength(1);
    expect(one.modelId).toBe(two.modelId);
    await page.call('release', { modelId: one.modelId });
    expect(await codeOf(() => page.call('remove', { url }))).toBe('storage_busy');
    await page.call('release', { modelId: two.modelId });
    expect(service.openCount).toBe(0);
    expect(opfs.openHandles).toBe(0);
    expect(await page.call('remove', { url })).toEqual({ removed: true });
    expect(await page.call('list', {})).toEqual({ models: [] });
  });

  test('aborting one of two loads does not stop the other for good', async () => {
    const url = server.on('/m.gguf', stalled(bytes, 1_000_000));
    const abort = new AbortController();
    const first = acquire(url, { signal: abort.signal });
    first.catch(() => undefined);
    await pause(50);
    const second = acquire(url);
    server.on('/m.gguf', whole(bytes));
    abort.abort();
    expect(await thrownBy(() => within(1_000, first))).toMatchObject({ name: 'AbortError' });
    expect(await within(5_000, second)).toMatchObject({ partBytes: [bytes.length] });
  });

  test('an aborted download leaves no handle and no model', async () => {
    const url = server.on('/m.gguf', stalled(bytes, 1_000_000));
    const abort = new AbortController();
    const loading = acquire(url, { signal: abort.signal });
    loading.catch(() => undefined);
    await pause(50);
    abort.abort();
    await thrownBy(() => within(1_000, loading));
    await pause(50);
    expect(opfs.openHandles).toBe(0);
    expect(await page.call('list', {})).toEqual({ models: [] });
  });

  test('files are read in place', async () => {
    const file = new File([new Uint8Array(bytes)], 'm.gguf');
    const acquired = await page.call('acquire', { source: { kind: 'files', files: [file] }, headers: {} });
    expect(acquired).toMatchObject({ storage: 'file', partBytes: [bytes.length] });
    expect(await page.call('list', {})).toEqual({ models: [] });
  });
});

describe('reads', () => {
  test('give the extents one behind the other', async () => {
    const { modelId } = await acquire(server.on('/m.gguf', whole(bytes)));
    const client = await reads();
    const extents = [
      { part: 0, offset: 2_999_990, bytes: 10 },
      { part: 0, offset: 0, bytes: 4 },
      { part: 0, offset: 1_000_000, bytes: 1_000_000 },
    ];
    const { buffer } = await client.call('read', { modelId, extents, recycled: [] });
    const expected = Buffer.concat(
      extents.map(({ offset, bytes: count }) => bytes.subarray(offset, offset + count)),
    );
    expect(Buffer.compare(new Uint8Array(buffer, 0, expected.length), expected)).toBe(0);
  });

  test('fill recycled buffers again', async () => {
    const { modelId } = await acquire(server.on('/m.gguf', whole(bytes)));
    const client = await reads();
    const extents = [{ part: 0, offset: 100, bytes: 500_000 }];
    const { buffer: first } = await client.call('read', { modelId, extents, recycled: [] });
    new Uint8Array(first).fill(0xee);
    const smaller = [{ part: 0, offset: 7, bytes: 400_000 }];
    const { buffer } = await client.call(
      'read',
      { modelId, extents: smaller, recycled: [first] },
      { transfer: [first] },
    );
    expect(buffer.byteLength).toBe(500_000);
    expect(Buffer.compare(new Uint8Array(buffer, 0, 400_000), bytes.subarray(7, 400_007))).toBe(0);
  });

  test('of what is not there are errors', async () => {
    const { modelId } = await acquire(server.on('/m.gguf', whole(bytes)));
    const client = await reads();
    const read = (id: number, offset: number) => () =>
      client.call('read', { modelId: id, extents: [{ part: 0, offset, bytes: 10 }], recycled: [] });
    expect(await codeOf(read(modelId, bytes.length - 9))).toBe('io_failed');
    expect(await codeOf(read(modelId + 1, 0))).toBe('io_failed');
    await page.call('release', { modelId });
    expect(await codeOf(read(modelId, 0))).toBe('io_failed');
  });
});

// SPDX-License-Identifier: MIT
// The storage worker's code in node: the page's client on one channel, an engine's reads on another.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deferred } from '#web/async.js';
import { Client } from '#web/protocol/client.js';
import { Dispatcher } from '#web/protocol/dispatcher.js';
import type { LoadProgress } from '#web/protocol/data.js';
import type { AcquireOptions, ReadMethods, StorageMethods } from '#web/protocol/methods.js';
import { ModelStore } from '#web/storage/model-store.js';
import { OpfsBackend } from '#web/storage/opfs-folder.js';
import { StorageService } from '#web/worker/storage-service.js';
import { RemoteWeightSource } from '#web/worker/weight-source.js';
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';
import { FakeOpfs } from './support/fake-opfs.js';
import { testRangeBytes } from './support/download.js';
import { ModelServer, RangedFile, stalled, whole } from './support/model-server.js';
import { quickRetry } from './support/test-host.js';

const bytes = modelBytes(3_000_000);
let folder: string;
let opfs: FakeOpfs;
let server: ModelServer;
let service: StorageService;
let page: Client<StorageMethods>;
let ports: MessagePort[];

function connect(): Client<StorageMethods> {
  service = new StorageService({
    openStore: async () => ({
      store: new ModelStore(await OpfsBackend.open(opfs.root), testRangeBytes),
      reason: null,
    }),
    holdLock: async () => false,
    retry: quickRetry,
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

const usual: AcquireOptions = { headers: {}, fetch: 'all', verifyReads: 'first', sha256: [] };

const acquire = (
  url: string,
  options: Parameters<typeof page.call<'acquire'>>[2] = {},
  how: Partial<AcquireOptions> = {},
) => page.call('acquire', { source: { kind: 'url', url }, options: { ...usual, ...how } }, options);

const follow = (modelId: number, onProgress?: (progress: LoadProgress) => void): Promise<null> =>
  within(20_000, page.call('follow', { modelId }, { onProgress }), 'the download');

/** Jest's own comparison takes seconds for megabytes. */
function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(actual, expected)).toBe(0);
}

async function readAll(modelId: number, count: number): Promise<Uint8Array> {
  const client = await reads();
  const extents = [{ part: 0, offset: 0, bytes: count }];
  const { buffer } = await within(5_000, client.call('read', { modelId, extents, recycled: [] }), 'the read');
  return new Uint8Array(buffer, 0, count);
}

describe('acquire', () => {
  test('downloads once; the next page reads from the store without any request', async () => {
    const url = server.on('/m.gguf', whole(bytes));
    const progress: LoadProgress[] = [];
    const first = await acquire(url);
    await follow(first.modelId, (one) => progress.push(one));
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
    await Promise.all([follow(one.modelId), follow(two.modelId)]);
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

  test('the end of one of two users does not stop the download for the other', async () => {
    const file = new RangedFile(bytes, { bytesPerSecond: 6e6 });
    const url = server.on('/m.gguf', file.answer);
    const [one, two] = await Promise.all([acquire(url), acquire(url)]);
    await page.call('release', { modelId: one.modelId });
    await follow(two.modelId);
    expect(file.timesSent.every((times) => times === 1)).toBe(true);
  });

  test('the end of the last user stops the download, keeps what was verified and leaves no handle', async () => {
    const url = server.on('/m.gguf', stalled(bytes, 1_000_000));
    const { modelId } = await acquire(url);
    const arrived = deferred<void>();
    const following = follow(modelId, ({ loadedBytes }) => loadedBytes === 1_000_000 && arrived.resolve());
    following.catch(() => undefined);
    await within(5_000, arrived.promise);
    await page.call('release', { modelId });
    expect(await codeOf(() => following)).toBe('disposed');
    expect(opfs.openHandles).toBe(0);
    const kept = Math.floor(1_000_000 / testRangeBytes) * testRangeBytes;
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'partial', bytes: kept }] });
  });

  test('aborting before the server answers leaves nothing', async () => {
    const url = server.on('/m.gguf', () => undefined);
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

  test('a download that brings nothing leaves nothing', async () => {
    const url = server.on('/m.gguf', whole(Buffer.from('this is not a model at all')));
    const { modelId } = await acquire(url);
    expect(await codeOf(() => follow(modelId))).toBe('bad_magic');
    await page.call('release', { modelId });
    expect(await page.call('list', {})).toEqual({ models: [] });
  });

  test('the next page goes on with what the last one left', async () => {
    const file = new RangedFile(bytes, { fault: (request) => (request === 1 ? 1_000_000 : null) });
    const url = server.on('/m.gguf', (request, response) =>
      file.requests === 0 ? file.answer(request, response) : void response.socket?.destroy(),
    );
    const first = await acquire(url);
    expect(await codeOf(() => follow(first.modelId))).toBe('network_failed');
    const kept = Math.floor(1_000_000 / testRangeBytes) * testRangeBytes;

    opfs = opfs.restart(); // the tab was killed
    page = connect();
    server.on('/m.gguf', file.answer);
    const before = file.sentBytes;
    const again = await acquire(url);
    await follow(again.modelId);
    expect(file.sentBytes - before).toBe(bytes.length - kept);
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'complete' }] });
  });

  test('without a network, the rest of a download is a typed error, and what is there stays', async () => {
    const url = server.on('/m.gguf', stalled(bytes, 1_000_000));
    const { modelId } = await acquire(url);
    await pause(50);
    await page.call('release', { modelId });
    server.on('/m.gguf', (request) => void request.socket.destroy());
    expect(await codeOf(() => acquire(url))).toBe('network_failed');
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'partial' }] });
    expect(opfs.openHandles).toBe(0);
  });

  test('a file that changed while the page was away is downloaded anew', async () => {
    const url = server.on('/m.gguf', new RangedFile(bytes, { fault: () => 1_000_000, etag: '"v1"' }).answer);
    const first = await acquire(url);
    await pause(100);
    await page.call('release', { modelId: first.modelId });
    const fresh = modelBytes(2_000_000, 5);
    server.on('/m.gguf', new RangedFile(fresh, { etag: '"v2"' }).answer);
    const { modelId, partBytes } = await acquire(url);
    expect(partBytes).toEqual([fresh.length]);
    await follow(modelId);
    expectBytes(await readAll(modelId, fresh.length), fresh);
  });

  test('on demand, only what is read is fetched, and a later load fetches the rest', async () => {
    const big = modelBytes(20_000_000);
    const file = new RangedFile(big);
    const url = server.on('/m.gguf', file.answer);
    const planned = await acquire(url, {}, { fetch: 'demand' });
    expectBytes(await readAll(planned.modelId, 1_000_000), big.slice(0, 1_000_000));
    await page.call('release', { modelId: planned.modelId });
    expect(file.sentBytes).toBeLessThan(1_200_000);
    const { modelId } = await acquire(url);
    await follow(modelId);
    expect(file.timesSent.every((times) => times === 1)).toBe(true);
  });

  test('files are read in place', async () => {
    const file = new File([new Uint8Array(bytes)], 'm.gguf');
    const acquired = await page.call('acquire', { source: { kind: 'files', files: [file] }, options: usual });
    expect(await follow(acquired.modelId)).toBeNull();
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

  test('go straight into shared memory, each extent to its address', async () => {
    const { modelId } = await acquire(server.on('/m.gguf', whole(bytes)));
    const client = await reads();
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 100, shared: true });
    const extents = [
      { part: 0, offset: 2_999_990, bytes: 10 },
      { part: 0, offset: 1_000_000, bytes: 1_000_000 },
    ];
    const source = new RemoteWeightSource(client, modelId);
    expect(source.readInto).toBeUndefined();
    await source.share(memory);
    memory.grow(31); // since it was shared
    await source.readInto?.(extents, [100, 500_000]);
    const expected = Buffer.alloc(32 * 65_536);
    expected.set(bytes.subarray(2_999_990), 100);
    expected.set(bytes.subarray(1_000_000, 2_000_000), 500_000);
    expectBytes(Buffer.from(new Uint8Array(memory.buffer)), expected);
    source.unshare();
    expect(await codeOf(() => client.call('readInto', { modelId, extents, pointers: [0, 0] }))).toBe(
      'internal',
    );
  });

  test('of small pieces all at once are not mistaken for damage', async () => {
    const file = new RangedFile(bytes);
    const { modelId } = await acquire(server.on('/m.gguf', file.answer));
    await follow(modelId);
    const client = await reads();
    const acrossBorders = Array.from({ length: 40 }, (_, index) => ({
      part: 0,
      offset: (index + 1) * testRangeBytes - 500,
      bytes: 1000 + (index % 3) * testRangeBytes,
    }));
    await client.call('read', { modelId, extents: acrossBorders, recycled: [] });
    expect(file.requests).toBe(1);
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'complete' }] });
  });

  test('that are aborted have ended before shared memory is anybody else’s', async () => {
    const { modelId } = await acquire(server.on('/m.gguf', stalled(bytes, 1_000_000)));
    const client = await reads();
    const source = new RemoteWeightSource(client, modelId);
    const abort = new AbortController();
    await source.share(new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true }));
    const extents = [{ part: 0, offset: 2_000_000, bytes: 1_000_000 }];
    const reading = source.readInto?.(extents, [0], abort.signal) ?? Promise.reject(new Error('not shared'));
    reading.catch(() => undefined);
    await pause(50);
    abort.abort();
    expect(client.pendingCount).toBe(1); // the other end has not said that it stopped
    expect(await thrownBy(() => within(5_000, reading))).toMatchObject({ name: 'AbortError' });
    expect(client.pendingCount).toBe(0);
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

describe('damage', () => {
  /** Stores the model, then harms its file behind our back. */
  async function storedAndHarmed(harm: (file: Buffer) => void): Promise<{ url: string; file: RangedFile }> {
    const file = new RangedFile(bytes);
    const url = server.on('/m.gguf', file.answer);
    const { modelId } = await acquire(url);
    await follow(modelId);
    await page.call('release', { modelId });
    const models = path.join(folder, 'layerstream', 'models');
    const name = readdirSync(models).find((entry) => entry !== 'probe') ?? '';
    const stored = path.join(models, name, 'part-00000.gguf');
    const content = readFileSync(stored);
    harm(content);
    writeFileSync(stored, content);
    opfs = opfs.restart();
    page = connect();
    return { url, file };
  }
  const flip = (content: Buffer): void =>
    void content.writeUInt8(content.readUInt8(1_234_567) ^ 0x10, 1_234_567);

  test('is found when it is read, and only that range is fetched again', async () => {
    const { url, file } = await storedAndHarmed(flip);
    const before = file.sentBytes;
    const { modelId } = await acquire(url);
    expectBytes(await readAll(modelId, bytes.length), bytes);
    expect(file.sentBytes - before).toBe(testRangeBytes);
    await page.call('release', { modelId });
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'complete' }] });
  });

  test('elsewhere does not concern a read', async () => {
    const { url, file } = await storedAndHarmed(flip);
    const before = file.requests;
    const { modelId } = await acquire(url);
    expectBytes(await readAll(modelId, 1_000_000), bytes.slice(0, 1_000_000));
    expect(file.requests).toBe(before);
  });

  test('without a network is a typed error that names the range; the rest still reads', async () => {
    const { url } = await storedAndHarmed(flip);
    server.on('/m.gguf', (request) => void request.socket.destroy());
    const { modelId } = await acquire(url);
    const start = Math.floor(1_234_567 / testRangeBytes) * testRangeBytes;
    expect(await thrownBy(() => readAll(modelId, bytes.length))).toMatchObject({
      name: 'BadModelError',
      code: 'range_damaged',
      details: { url, part: 0, offset: start, bytes: testRangeBytes },
    });
    expectBytes(await readAll(modelId, 1_000_000), bytes.slice(0, 1_000_000));
  });

  test('that another file would replace is not', async () => {
    const { url } = await storedAndHarmed(flip);
    server.on('/m.gguf', new RangedFile(modelBytes(3_000_000, 9)).answer); // the same etag and length
    const { modelId } = await acquire(url);
    expect(await codeOf(() => readAll(modelId, bytes.length))).toBe('range_damaged');
  });

  test('that comes after the first read is found where every read is checked', async () => {
    for (const verifyReads of ['first', 'always'] as const) {
      const { url, file } = await storedAndHarmed(() => undefined);
      const { modelId } = await acquire(url, {}, { verifyReads });
      await readAll(modelId, bytes.length);
      const models = path.join(folder, 'layerstream', 'models');
      const name = readdirSync(models).find((entry) => entry !== 'probe') ?? '';
      const fd = openSync(path.join(models, name, 'part-00000.gguf'), 'r+');
      writeSync(fd, Buffer.from([0xff]), 0, 1, 100);
      closeSync(fd);
      const before = file.sentBytes;
      const again = await readAll(modelId, bytes.length);
      expect(Buffer.compare(again, bytes) === 0).toBe(verifyReads === 'always');
      expect(file.sentBytes - before).toBe(verifyReads === 'always' ? testRangeBytes : 0);
      await page.call('release', { modelId });
      await page.call('remove', { url });
    }
  });

  test('a part that was cut short loses only what was cut', async () => {
    const { url, file } = await storedAndHarmed(() => undefined);
    const models = path.join(folder, 'layerstream', 'models');
    const name = readdirSync(models).find((entry) => entry !== 'probe') ?? '';
    truncateSync(path.join(models, name, 'part-00000.gguf'), 2_000_000);
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'damaged' }] });
    const before = file.sentBytes;
    const { modelId } = await acquire(url);
    await follow(modelId);
    expectBytes(await readAll(modelId, bytes.length), bytes);
    const kept = Math.floor(2_000_000 / testRangeBytes) * testRangeBytes;
    expect(file.sentBytes - before).toBe(bytes.length - kept);
  });
});

describe('a stated SHA-256', () => {
  const good = createHash('sha256').update(bytes).digest('hex');

  test('that fits is compared once', async () => {
    const url = server.on('/m.gguf', new RangedFile(bytes).answer);
    const { modelId } = await acquire(url, {}, { sha256: [good.toUpperCase()] });
    await follow(modelId);
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'complete' }] });
  });

  test('that does not is hash_mismatch: the session hears of it, the next load fetches the file anew', async () => {
    const url = server.on('/m.gguf', new RangedFile(modelBytes(3_000_000, 8)).answer);
    const { modelId } = await acquire(url, {}, { sha256: [good] });
    expect(await thrownBy(() => follow(modelId))).toMatchObject({
      code: 'hash_mismatch',
      details: { url, expectedSha256: good },
    });
    expect(await codeOf(() => readAll(modelId, 1000))).toBe('hash_mismatch');
    await page.call('release', { modelId });
    expect(await page.call('list', {})).toMatchObject({ models: [{ state: 'damaged' }] });
    server.on('/m.gguf', new RangedFile(bytes, { etag: '"v2"' }).answer);
    const again = await acquire(url, {}, { sha256: [good] });
    await follow(again.modelId);
    expectBytes(await readAll(again.modelId, bytes.length), bytes);
  });
});

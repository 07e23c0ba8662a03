// SPDX-License-Identifier: MIT
// The conformance suite on every store that runs in node, and what only OpfsStore has to answer for: crashes at
// every write, other browsers' locks, quota, damaged manifests.

import { describe, expect, test } from '@jest/globals';
import fs from 'node:fs';
import path from 'node:path';
import { BlobReader, openFiles } from '#web/storage/blob-reader.js';
import { MemoryStore } from '#web/storage/memory-store.js';
import type { ModelStore } from '#web/storage/model-store.js';
import { OpfsStore } from '#web/storage/opfs-store.js';
import { openStore } from '#web/storage/open-store.js';
import { modelBytes, storeSuite } from '../conformance/store-suite.js';
import { codeOf, withFolder } from './support/assertions.js';
import { FakeOpfs, type FakeOpfsOptions } from './support/fake-opfs.js';

const url = 'https://models.example/m.gguf';

async function put(store: ModelStore, bytes: Uint8Array): Promise<void> {
  const writer = await store.create(url);
  await writer.write(0, 0, bytes);
  await writer.complete([{ url, bytes: bytes.length, etag: null }]);
}

async function manifestFile(folder: string): Promise<string> {
  const models = path.join(folder, 'layerstream', 'models');
  const name = fs.readdirSync(models).find((entry) => fs.statSync(path.join(models, entry)).isDirectory());
  return path.join(models, name ?? '', 'manifest.json');
}

describe('memory store', () => {
  for (const { name, run } of storeSuite) {
    test(name, async () => {
      const store = new MemoryStore();
      await run({ store, reopen: async () => store });
    });
  }
});

const opfsVariants: Record<string, FakeOpfsOptions> = {
  'OPFS store': {},
  'OPFS store where every handle is exclusive': { readOnlyMode: false },
  'OPFS store that transfers few bytes at a time': { maxTransfer: 70_000 },
};

for (const [variant, options] of Object.entries(opfsVariants)) {
  describe(variant, () => {
    for (const { name, run } of storeSuite) {
      test(name, () =>
        withFolder(async (folder) => {
          const opfs = new FakeOpfs(folder, options);
          await run({
            store: await OpfsStore.open(opfs.root),
            reopen: () => OpfsStore.open(opfs.restart().root),
          });
        }),
      );
    }
  });
}

describe('OPFS store under faults', () => {
  test('a crash at any write leaves either nothing or the whole model', () =>
    withFolder(async (base) => {
      const bytes = modelBytes(250_000);
      let completed = false;
      for (let failAt = 1; !completed; ++failAt) {
        const folder = path.join(base, String(failAt));
        fs.mkdirSync(folder);
        const opfs = new FakeOpfs(folder, { maxTransfer: 60_000 });
        opfs.failAtWrite = failAt;
        completed = await OpfsStore.open(opfs.root)
          .then((store) => put(store, bytes))
          .then(
            () => true,
            () => false,
          );
        const after = await OpfsStore.open(opfs.restart().root);
        const reader = await after.open(url);
        expect(reader !== null).toBe(completed);
        expect((await after.list()).filter((model) => model.complete)).toHaveLength(completed ? 1 : 0);
        await reader?.close();
        expect(failAt).toBeLessThan(50);
      }
    }));

  test('a crash while a complete model is stored again does not leave a mixture', () =>
    withFolder(async (folder) => {
      const opfs = new FakeOpfs(folder);
      await put(await OpfsStore.open(opfs.root), modelBytes(1_000, 1));
      opfs.failAtWrite = opfs.writes + 2; // after the manifest said "not complete"
      await expect(put(await OpfsStore.open(opfs.root), modelBytes(1_000, 2))).rejects.toThrow();
      expect(await (await OpfsStore.open(opfs.restart().root)).open(url)).toBeNull();
    }));

  test('quota exceeded in the middle is a typed error, and discard makes room again', () =>
    withFolder(async (folder) => {
      const store = await OpfsStore.open(new FakeOpfs(folder, { quotaBytes: 50_000 }).root);
      const writer = await store.create(url);
      expect(await codeOf(() => writer.write(0, 0, modelBytes(100_000)))).toBe('storage_quota');
      await writer.discard();
      await put(store, modelBytes(10_000));
    }));

  const damage: Record<string, (manifest: string) => void> = {
    'a manifest cut short': (file) => fs.truncateSync(file, fs.statSync(file).size - 3),
    'an empty manifest': (file) => fs.truncateSync(file, 0),
    'a manifest of zeros': (file) => fs.writeFileSync(file, Buffer.alloc(200)),
    'a manifest of a newer format': (file) =>
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"format": 1', '"format": 2')),
    'a manifest of another URL': (file) =>
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll('models.example', 'elsewhere.example')),
    'a manifest without parts': (file) =>
      fs.writeFileSync(file, JSON.stringify({ format: 1, url, complete: true, parts: [] })),
    'a missing manifest': (file) => fs.rmSync(file),
    'a part cut short': (file) => fs.truncateSync(path.join(path.dirname(file), 'part-00000.gguf'), 900),
    'a part that grew': (file) => fs.appendFileSync(path.join(path.dirname(file), 'part-00000.gguf'), 'x'),
    'a part without magic': (file) =>
      fs.writeFileSync(path.join(path.dirname(file), 'part-00000.gguf'), Buffer.alloc(1_000)),
    'a missing part': (file) => fs.rmSync(path.join(path.dirname(file), 'part-00000.gguf')),
  };
  for (const [what, harm] of Object.entries(damage)) {
    test(`${what} makes the model absent, and it can be stored again`, () =>
      withFolder(async (folder) => {
        const opfs = new FakeOpfs(folder);
        const store = await OpfsStore.open(opfs.root);
        await put(store, modelBytes(1_000));
        harm(await manifestFile(folder));
        expect(await store.open(url)).toBeNull();
        expect(opfs.openHandles).toBe(0);
        await put(store, modelBytes(1_000));
        const reader = await store.open(url);
        expect(reader).not.toBeNull();
        await reader?.close();
      }));
  }

  test('where another tab holds the only handle, the model is read beside it', () =>
    withFolder(async (folder) => {
      const opfs = new FakeOpfs(folder, { readOnlyMode: false });
      const store = await OpfsStore.open(opfs.root);
      const bytes = modelBytes(1_000);
      await put(store, bytes);
      const first = await store.open(url);
      const second = await store.open(url);
      expect(second?.kind).toBe('opfs');
      const into = new Uint8Array(1_000);
      await second?.read(0, 0, into);
      expect(into).toEqual(bytes);
      await first?.close();
      await second?.close();
    }));

  test('a read that fails names part and offset', () =>
    withFolder(async (folder) => {
      const opfs = new FakeOpfs(folder);
      const store = await OpfsStore.open(opfs.root);
      await put(store, modelBytes(1_000));
      const reader = await store.open(url);
      opfs.failReads = true;
      await expect(reader?.read(0, 10, new Uint8Array(5))).rejects.toMatchObject({
        code: 'io_failed',
        details: { part: 0, offset: 10 },
      });
    }));
});

describe('without a private file system', () => {
  test('models are kept in memory, with the reason', async () => {
    const none = await openStore(undefined);
    expect(none.store.kind).toBe('memory');
    expect(none.reason).toMatch(/no file system/);
  });
});

describe('files in place', () => {
  const file = (name: string, bytes: Uint8Array): File => new File([new Uint8Array(bytes)], name);

  test('parts are put in order and read', async () => {
    const parts = [modelBytes(500, 1), modelBytes(600, 2)];
    const reader = await openFiles([
      file('m-00002-of-00002.gguf', parts[1] ?? new Uint8Array()),
      file('m-00001-of-00002.gguf', parts[0] ?? new Uint8Array()),
    ]);
    expect(reader.kind).toBe('file');
    expect(reader.partBytes).toEqual([500, 600]);
    const into = new Uint8Array(100);
    await reader.read(1, 400, into);
    expect(into).toEqual(parts[1]?.slice(400, 500));
  });

  test('a file that is not GGUF is refused by name', async () => {
    const wrong = file('notes.txt', new TextEncoder().encode('hello, this is text'));
    await expect(openFiles([wrong])).rejects.toMatchObject({
      code: 'bad_magic',
      details: { name: 'notes.txt' },
    });
    expect(await codeOf(() => openFiles([file('empty.gguf', new Uint8Array())]))).toBe('bad_magic');
    expect(await codeOf(() => openFiles([]))).toBe('bad_argument');
  });

  test('reads outside the file are errors', async () => {
    const reader = new BlobReader([new Blob([new Uint8Array(10)])]);
    expect(await codeOf(() => reader.read(0, 5, new Uint8Array(6)))).toBe('io_failed');
  });
});

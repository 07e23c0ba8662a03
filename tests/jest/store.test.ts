// SPDX-License-Identifier: MIT
// The conformance suite over every backend that runs in node, and what the file system has to answer for: writes that
// are cut anywhere, other tabs' locks, quota, damaged manifests and journals, stores of an older format.

import { describe, expect, test } from '@jest/globals';
import fs from 'node:fs';
import path from 'node:path';
import { BlobReader, openFiles } from '#web/storage/blob-reader.js';
import { MemoryBackend } from '#web/storage/memory-folder.js';
import type { ModelFiles } from '#web/storage/model-files.js';
import { ModelStore } from '#web/storage/model-store.js';
import { OpfsBackend } from '#web/storage/opfs-folder.js';
import { openStore } from '#web/storage/open-store.js';
import { rangeHash } from '#web/storage/range-hash.js';
import {
  modelBytes,
  partInfo,
  putModel,
  putRanges,
  storeSuite,
  suiteRangeBytes,
} from '../conformance/store-suite.js';
import { codeOf, withFolder } from './support/assertions.js';
import { FakeOpfs, type FakeOpfsOptions } from './support/fake-opfs.js';

const url = 'https://models.example/tiny.gguf';

async function storeOn(opfs: FakeOpfs): Promise<ModelStore> {
  return new ModelStore(await OpfsBackend.open(opfs.root), suiteRangeBytes);
}

function modelFile(folder: string, file: string): string {
  const models = path.join(folder, 'layerstream', 'models');
  const name = fs.readdirSync(models).find((entry) => fs.statSync(path.join(models, entry)).isDirectory());
  return path.join(models, name ?? '', file);
}

/** Every range that counts has the bytes whose hash the journal has. */
async function expectTruth(files: ModelFiles, bytes: Uint8Array): Promise<void> {
  for (let range = 0; range < files.grid.count; ++range) {
    if (files.has(range)) {
      const { part, offset, bytes: length } = files.grid.extentOf(range);
      const stored = new Uint8Array(length);
      await files.read(part, offset, stored);
      expect(rangeHash(stored)).toBe(files.expectedHash(range));
      expect(Buffer.compare(stored, bytes.subarray(offset, offset + length))).toBe(0);
    }
  }
}

describe('in memory', () => {
  for (const { name, run } of storeSuite) {
    test(name, async () => {
      const store = new ModelStore(new MemoryBackend(), suiteRangeBytes);
      await run({ store, reopen: async () => store });
    });
  }
});

const opfsVariants: Record<string, FakeOpfsOptions> = {
  'in the private file system': {},
  'in a private file system where every handle is exclusive': { readOnlyMode: false },
  'in a private file system that transfers few bytes at a time': { maxTransfer: 30_000 },
};

for (const [variant, options] of Object.entries(opfsVariants)) {
  describe(variant, () => {
    for (const { name, run } of storeSuite) {
      test(name, () =>
        withFolder(async (folder) => {
          const opfs = new FakeOpfs(folder, options);
          await run({ store: await storeOn(opfs), reopen: () => storeOn(opfs.restart()) });
          expect(opfs.openHandles).toBe(0);
        }),
      );
    }
  });
}

describe('writes that are cut', () => {
  /** Runs `work` with the writes cut at every point, and looks at what the next page finds. */
  async function cutEverywhere(
    prepare: (store: ModelStore) => Promise<void>,
    work: (store: ModelStore) => Promise<void>,
    look: (store: ModelStore, done: boolean) => Promise<void>,
  ): Promise<number> {
    for (let failAt = 1; ; ++failAt) {
      const done = await withFolder(async (folder) => {
        const before = new FakeOpfs(folder);
        await prepare(await storeOn(before));
        const opfs = new FakeOpfs(folder, { maxTransfer: 20_000 });
        opfs.failAtWrite = failAt;
        const ended = await storeOn(opfs)
          .then(work)
          .then(
            () => true,
            () => false,
          );
        await look(await storeOn(opfs.restart()), ended);
        return ended;
      });
      if (done) {
        return failAt;
      }
      expect(failAt).toBeLessThan(200);
    }
  }

  test('of a download: what counts is true, nothing that was noted is lost, and it can go on', async () => {
    const bytes = modelBytes(400_000);
    const counts: number[] = [];
    const cuts = await cutEverywhere(
      async () => undefined,
      async (store) => {
        const files = await store.create(url, [partInfo(bytes)]);
        await putRanges(files, [bytes]);
        await files.close();
      },
      async (store, done) => {
        let files = await store.open(url);
        counts.push(files?.verifiedBytes ?? -1);
        expect(files?.isComplete ?? false).toBe(done);
        files ??= await store.create(url, [partInfo(bytes)]);
        await expectTruth(files, bytes);
        await putRanges(files, [bytes], (range) => files?.has(range) === false);
        expect(files.state).toBe('complete');
        await expectTruth(files, bytes);
        await files.close();
      },
    );
    expect(cuts).toBeGreaterThan(20);
    // Later cuts never find less, and every number of ranges is seen.
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBe(1 + Math.ceil(400_000 / suiteRangeBytes) + 1);
  });

  test('of a repair: the other ranges stay', async () => {
    const bytes = modelBytes(300_000);
    await cutEverywhere(
      (store) => putModel(store, [bytes]),
      async (store) => {
        const files = await store.open(url);
        await files?.revoke(1);
        await putRanges(files as ModelFiles, [bytes], (range) => range === 1);
        await files?.close();
      },
      async (store) => {
        const files = (await store.open(url)) as ModelFiles;
        expect([0, 2, 3, 4].every((range) => files.has(range))).toBe(true);
        await expectTruth(files, files.has(1) ? bytes : bytes.slice());
        await files.close();
      },
    );
  });

  test('of another file over a complete one: the old one, nothing, or ranges of the new one; never a mixture', async () => {
    const [old, fresh] = [modelBytes(300_000, 1), modelBytes(300_000, 2)];
    await cutEverywhere(
      (store) => putModel(store, [old]),
      async (store) => {
        const files = await store.create(url, [partInfo(fresh)]);
        await putRanges(files, [fresh]);
        await files.close();
      },
      async (store) => {
        const files = await store.open(url);
        if (files !== null) {
          await expectTruth(files, fresh);
          await files.close();
        }
      },
    );
  });

  test('of the migration from format 1: it is found complete again', async () => {
    const bytes = modelBytes(150_000);
    await withFolder(async (base) => {
      for (let failAt = 1, done = false; !done; ++failAt) {
        const folder = path.join(base, String(failAt));
        await makeFormat1(folder, bytes);
        const opfs = new FakeOpfs(folder);
        opfs.failAtWrite = failAt;
        done = await storeOn(opfs)
          .then((store) => store.open(url))
          .then(
            () => true,
            () => false,
          );
        const files = await (await storeOn(opfs.restart())).open(url);
        expect(files?.state).toBe('complete');
        await files?.close();
        expect(failAt).toBeLessThan(20);
      }
    });
  });
});

/** What the first release wrote. */
async function makeFormat1(
  folder: string,
  bytes: Uint8Array,
  change: Record<string, unknown> = {},
): Promise<void> {
  fs.mkdirSync(folder, { recursive: true });
  await putModel(await storeOn(new FakeOpfs(folder)), [bytes]); // for the folder's name
  fs.rmSync(modelFile(folder, 'model.json'));
  fs.rmSync(modelFile(folder, 'journal.bin'));
  const part = { file: 'part-00000.gguf', url, bytes: bytes.length, etag: '"abc"' };
  fs.writeFileSync(
    modelFile(folder, 'manifest.json'),
    JSON.stringify({ format: 1, url, complete: true, parts: [part], ...change }, null, 1),
  );
}

describe('a store of format 1', () => {
  const bytes = modelBytes(150_000);

  test('opens complete, without a download; its hashes are noted as it is read', () =>
    withFolder(async (folder) => {
      await makeFormat1(folder, bytes);
      const store = await storeOn(new FakeOpfs(folder));
      expect(await store.list()).toMatchObject([{ url, state: 'complete', bytes: bytes.length }]);
      const files = (await store.open(url)) as ModelFiles;
      expect(files.parts).toMatchObject([{ etag: '"abc"', bytes: bytes.length }]);
      expect([files.has(1), files.expectedHash(1)]).toEqual([true, null]);
      await files.adopt(1, 'ab'.repeat(16));
      await files.close();
      const again = await store.open(url);
      expect([again?.expectedHash(1), again?.expectedHash(0)]).toEqual(['ab'.repeat(16), null]);
      await again?.close();
    }));

  const harms: Record<string, (folder: string) => void> = {
    'was interrupted': (folder) =>
      fs.writeFileSync(
        modelFile(folder, 'manifest.json'),
        JSON.stringify({ format: 1, url, complete: false, parts: [] }),
      ),
    'has a part cut short': (folder) => fs.truncateSync(modelFile(folder, 'part-00000.gguf'), 1_000),
    'has no magic': (folder) =>
      fs.writeFileSync(modelFile(folder, 'part-00000.gguf'), Buffer.alloc(bytes.length)),
    'has no part': (folder) => fs.rmSync(modelFile(folder, 'part-00000.gguf')),
  };
  for (const [what, harm] of Object.entries(harms)) {
    test(`that ${what} is absent, and can be stored again`, () =>
      withFolder(async (folder) => {
        await makeFormat1(folder, bytes);
        harm(folder);
        const store = await storeOn(new FakeOpfs(folder));
        expect(await store.open(url)).toBeNull();
        await putModel(store, [bytes]);
        expect(await store.list()).toMatchObject([{ state: 'complete' }]);
      }));
  }
});

describe('damage on disk', () => {
  const bytes = modelBytes(300_000);
  const absent: Record<string, (manifest: string) => void> = {
    'a manifest cut short': (file) => fs.truncateSync(file, fs.statSync(file).size - 3),
    'an empty manifest': (file) => fs.truncateSync(file, 0),
    'a manifest of zeros': (file) => fs.writeFileSync(file, Buffer.alloc(200)),
    'a manifest of a newer format': (file) =>
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"format": 2', '"format": 3')),
    'a manifest of another URL': (file) =>
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll('models.example', 'elsewhere.example')),
    'a manifest without parts': (file) =>
      fs.writeFileSync(file, JSON.stringify({ format: 2, url, generation: 1, rangeBytes: 65536, parts: [] })),
    'a manifest whose ranges are no size': (file) =>
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"rangeBytes": 65536', '"rangeBytes": 0')),
    'a missing manifest': (file) => fs.rmSync(file),
  };
  for (const [what, harm] of Object.entries(absent)) {
    test(`${what} makes the model absent, and it can be stored again`, () =>
      withFolder(async (folder) => {
        const opfs = new FakeOpfs(folder);
        const store = await storeOn(opfs);
        await putModel(store, [bytes]);
        harm(modelFile(folder, 'model.json'));
        expect(await store.open(url)).toBeNull();
        expect(opfs.openHandles).toBe(0);
        await putModel(store, [bytes]);
        expect(await store.list()).toMatchObject([{ state: 'complete' }]);
      }));
  }

  const partly: Record<string, [harm: (folder: string) => void, missing: number[]]> = {
    'a journal cut in a record': [
      (folder) => fs.truncateSync(modelFile(folder, 'journal.bin'), 4 * 32 + 7),
      [4],
    ],
    'a flipped bit in a record': [
      (folder) => {
        const journal = fs.readFileSync(modelFile(folder, 'journal.bin'));
        journal.writeUInt8(journal.readUInt8(2 * 32 + 13) ^ 4, 2 * 32 + 13);
        fs.writeFileSync(modelFile(folder, 'journal.bin'), journal);
      },
      [2],
    ],
    'no journal': [(folder) => fs.rmSync(modelFile(folder, 'journal.bin')), [0, 1, 2, 3, 4]],
    'a journal of another generation': [
      (folder) => {
        const file = modelFile(folder, 'model.json');
        fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/"generation": \d+/, '"generation": 7'));
      },
      [0, 1, 2, 3, 4],
    ],
    'a part cut short': [
      (folder) => fs.truncateSync(modelFile(folder, 'part-00000.gguf'), 2 * suiteRangeBytes + 5),
      [2, 3, 4],
    ],
    'a missing part': [(folder) => fs.rmSync(modelFile(folder, 'part-00000.gguf')), [0, 1, 2, 3, 4]],
  };
  for (const [what, [harm, missing]] of Object.entries(partly)) {
    test(`${what} costs ranges ${missing.join(', ')} and no others`, () =>
      withFolder(async (folder) => {
        const store = await storeOn(new FakeOpfs(folder));
        await putModel(store, [bytes]);
        harm(folder);
        expect((await store.list())[0]?.state).not.toBe('complete');
        const files = (await store.open(url)) as ModelFiles;
        expect([0, 1, 2, 3, 4].filter((range) => !files.has(range))).toEqual(missing);
        await putRanges(files, [bytes], (range) => !files.has(range));
        expect(files.state).toBe('complete');
        await expectTruth(files, bytes);
        await files.close();
      }));
  }

  test('a read that fails names part and offset', () =>
    withFolder(async (folder) => {
      const opfs = new FakeOpfs(folder);
      const store = await storeOn(opfs);
      await putModel(store, [bytes]);
      const files = await store.open(url);
      opfs.failReads = true;
      await expect(files?.read(0, 10, new Uint8Array(5))).rejects.toMatchObject({
        code: 'io_failed',
        details: { part: 0, offset: 10 },
      });
      await files?.close();
    }));
});

describe('room and locks', () => {
  test('quota exceeded in the middle is a typed error, what was there stays, and removing makes room again', () =>
    withFolder(async (folder) => {
      const store = await storeOn(new FakeOpfs(folder, { quotaBytes: 200_000 }));
      const bytes = modelBytes(400_000);
      const files = await store.create(url, [partInfo(bytes)]);
      expect(await codeOf(() => putRanges(files, [bytes]))).toBe('storage_quota');
      await files.close();
      const again = (await store.open(url)) as ModelFiles;
      expect(again.verifiedBytes).toBe(3 * suiteRangeBytes);
      await expectTruth(again, bytes);
      await again.close();
      await store.remove(url);
      await putModel(store, [modelBytes(150_000)]);
    }));

  test('where another tab holds the only handle, a complete model is read beside it', () =>
    withFolder(async (folder) => {
      const opfs = new FakeOpfs(folder, { readOnlyMode: false });
      const store = await storeOn(opfs);
      const bytes = modelBytes(100_000);
      await putModel(store, [bytes]);
      const [first, second] = [await store.open(url), (await store.open(url)) as ModelFiles];
      await expectTruth(second, bytes);
      await first?.close();
      await expectTruth(second, bytes);
      await second.close();
    }));

  test('a repair while another tab reads is kept for this session, and the files are left alone', () =>
    withFolder(async (folder) => {
      const store = await storeOn(new FakeOpfs(folder));
      const bytes = modelBytes(200_000);
      await putModel(store, [bytes]);
      const file = fs.readFileSync(modelFile(folder, 'part-00000.gguf'));
      file.fill(0, suiteRangeBytes, 2 * suiteRangeBytes);
      fs.writeFileSync(modelFile(folder, 'part-00000.gguf'), file);
      const [other, files] = [await store.open(url), (await store.open(url)) as ModelFiles];
      await files.revoke(1);
      await putRanges(files, [bytes], (range) => range === 1);
      await expectTruth(files, bytes);
      const across = new Uint8Array(100);
      await files.read(0, 2 * suiteRangeBytes - 50, across);
      expect(Buffer.compare(across, bytes.subarray(2 * suiteRangeBytes - 50, 2 * suiteRangeBytes + 50))).toBe(
        0,
      );
      await files.close();
      await other?.close();
      expect(Buffer.compare(fs.readFileSync(modelFile(folder, 'part-00000.gguf')), file)).toBe(0);
    }));
});

describe('without a private file system', () => {
  test('models are kept in memory, with the reason', async () => {
    const none = await openStore(undefined, async (limitBytes) => new MemoryBackend(limitBytes));
    expect(none.store.kind).toBe('memory');
    expect(none.reason).toMatch(/no file system/);
  });

  test('memory has a limit, which is an error with a code', async () => {
    const store = new ModelStore(new MemoryBackend(5 << 20));
    const bytes = modelBytes(8 << 20);
    const files = await store.create(url, [partInfo(bytes)]);
    expect(await codeOf(() => putRanges(files, [bytes]))).toBe('storage_quota');
    expect(files.verifiedBytes).toBeGreaterThan(0);
    await files.close();
    await store.remove(url);
    await putModel(store, [modelBytes(2 << 20)], url);
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

// SPDX-License-Identifier: MIT
// What a ModelStore must do over every backend, as cases that need nothing but an assert: Jest runs them in node on
// memory and on the private file system over a folder.

import type { ModelFiles } from '#web/storage/model-files.js';
import type { ModelStore } from '#web/storage/model-store.js';
import type { PartInfo } from '#web/storage/store-types.js';

export interface StoreUnderTest {
  readonly store: ModelStore;
  /** The store as a new page finds it; the same object where nothing outlives the page. */
  reopen(): Promise<ModelStore>;
}

export interface StoreCase {
  readonly name: string;
  run(context: StoreUnderTest): Promise<void>;
}

const url = 'https://models.example/tiny.gguf';

function check(condition: boolean, what: string): asserts condition {
  if (!condition) {
    throw new Error(`store: ${what}`);
  }
}

function checkEqual(actual: unknown, expected: unknown, what: string): void {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(a === e, `${what}: expected ${e}, got ${a}`);
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error
      ? String(error.code)
      : String(error);
  }
  return 'nothing was thrown';
}

/** A model's bytes: magic, then bytes that tell their own position; no two ranges hold the same. */
export function modelBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; ++index) {
    bytes[index] = (index * 31 + (index >> 8) * 17 + (index >> 16) * 13 + seed) & 0xff;
  }
  bytes.set([0x47, 0x47, 0x55, 0x46].slice(0, length));
  return bytes;
}

export function partInfo(bytes: Uint8Array, from = url): PartInfo {
  return { url: from, bytes: bytes.length, etag: '"v1"', lastModified: null, sha256: null };
}

/** Takes in the ranges of `parts` for which `wanted` holds. */
export async function putRanges(
  files: ModelFiles,
  parts: readonly Uint8Array[],
  wanted: (range: number) => boolean = () => true,
): Promise<void> {
  for (let range = 0; range < files.grid.count; ++range) {
    if (wanted(range)) {
      const { part, offset, bytes } = files.grid.extentOf(range);
      await files.put(range, (parts[part] ?? new Uint8Array()).subarray(offset, offset + bytes));
    }
  }
}

/** Stores all of it. */
export async function putModel(
  store: ModelStore,
  parts: readonly Uint8Array[],
  at: string = url,
): Promise<void> {
  const files = await store.create(
    at,
    parts.map((bytes) => partInfo(bytes, at)),
  );
  try {
    await putRanges(files, parts);
    await files.settle();
  } finally {
    await files.close();
  }
}

async function opened(store: ModelStore, at = url): Promise<ModelFiles> {
  const files = await store.open(at);
  check(files !== null, `${at} should be there`);
  return files;
}

async function checkBytes(files: ModelFiles, part: number, expected: Uint8Array): Promise<void> {
  const all = new Uint8Array(expected.length);
  await files.read(part, 0, all);
  check(
    all.every((byte, index) => byte === expected[index]),
    `part ${part} has other bytes than were written`,
  );
}

/** Written for stores whose ranges are 65,536 bytes. */
export const suiteRangeBytes = 65_536;

export const storeSuite: readonly StoreCase[] = [
  {
    name: 'a model that was never stored is null, not an error',
    run: async ({ store }) => {
      checkEqual(await store.open(url), null, 'open');
      checkEqual(await store.remove(url), false, 'remove');
      checkEqual(await store.list(), [], 'list');
    },
  },
  {
    name: 'a complete model is read back byte for byte, also by the next page',
    run: async (context) => {
      const bytes = modelBytes(300_001);
      await putModel(context.store, [bytes]);
      const store = await context.reopen();
      const files = await opened(store);
      checkEqual([files.state, files.verifiedBytes], ['complete', bytes.length], 'state');
      await checkBytes(files, 0, bytes);
      const some = new Uint8Array(1000);
      await files.read(0, 299_001, some);
      check(
        some.every((byte, index) => byte === bytes[299_001 + index]),
        'the last bytes are wrong',
      );
      await files.read(0, bytes.length, new Uint8Array(0));
      await files.close();
    },
  },
  {
    name: 'all parts of a split model are kept, in their order',
    run: async (context) => {
      const parts = [modelBytes(5000, 1), modelBytes(70_000, 2), modelBytes(4, 3)];
      await putModel(context.store, parts);
      const files = await opened(await context.reopen());
      checkEqual(files.grid.partBytes, [5000, 70_000, 4], 'part sizes');
      for (const [index, bytes] of parts.entries()) {
        await checkBytes(files, index, bytes);
      }
      await files.close();
    },
  },
  {
    name: 'exactly the ranges that were taken in count, in whatever order, also for the next page',
    run: async (context) => {
      const bytes = modelBytes(500_000);
      const files = await context.store.create(url, [partInfo(bytes)]);
      const taken = [6, 1, 4];
      for (const wanted of taken) {
        await putRanges(files, [bytes], (range) => range === wanted);
      }
      checkEqual(files.state, 'partial', 'state');
      await files.close();
      const again = await opened(await context.reopen());
      const has = Array.from({ length: again.grid.count }, (_, range) => range).filter((range) =>
        again.has(range),
      );
      checkEqual(has, [1, 4, 6], 'ranges');
      checkEqual(again.verifiedBytes, 3 * suiteRangeBytes, 'bytes');
      await putRanges(again, [bytes], (range) => !again.has(range));
      checkEqual(again.state, 'complete', 'state after the rest');
      await checkBytes(again, 0, bytes);
      await again.close();
    },
  },
  {
    name: 'a range that was revoked does not count, and its hash is remembered',
    run: async (context) => {
      const bytes = modelBytes(200_000);
      await putModel(context.store, [bytes]);
      const files = await opened(context.store);
      const hash = files.expectedHash(2);
      await files.revoke(2);
      checkEqual([files.state, files.has(2), files.has(1)], ['damaged', false, true], 'after revoke');
      await files.close();
      const again = await opened(await context.reopen());
      checkEqual([again.state, again.has(2), again.expectedHash(2)], ['damaged', false, hash], 'next page');
      await putRanges(again, [bytes], (range) => range === 2);
      checkEqual(again.state, 'complete', 'after the repair');
      await again.close();
    },
  },
  {
    name: 'a complete model is repaired while it is open, and read in between',
    run: async ({ store }) => {
      const bytes = modelBytes(200_000);
      await putModel(store, [bytes]);
      const files = await opened(store);
      await files.revoke(1);
      const read = checkBytes(files, 0, bytes);
      await putRanges(files, [bytes], (range) => range === 1);
      await read;
      await files.settle();
      checkEqual(files.state, 'complete', 'state');
      await checkBytes(files, 0, bytes);
      await files.close();
    },
  },
  {
    name: 'whether the whole was right is remembered',
    run: async (context) => {
      await putModel(context.store, [modelBytes(10_000)]);
      const files = await opened(context.store);
      checkEqual(files.wholeIsGood, null, 'before');
      await files.noteWhole(false);
      await files.close();
      const store = await context.reopen();
      const again = await opened(store);
      checkEqual([again.wholeIsGood, again.state], [false, 'damaged'], 'after');
      await again.close();
      await putModel(store, [modelBytes(10_000)]);
      const anew = await opened(store);
      checkEqual([anew.wholeIsGood, anew.state], [null, 'complete'], 'stored anew');
      await anew.close();
    },
  },
  {
    name: 'storing again over a longer model leaves nothing of the old one',
    run: async ({ store }) => {
      await putModel(store, [modelBytes(100_000, 1), modelBytes(10_000, 2)]);
      const shorter = modelBytes(3_000, 9);
      await putModel(store, [shorter]);
      const files = await opened(store);
      checkEqual(files.grid.partBytes, [3_000], 'part sizes');
      await checkBytes(files, 0, shorter);
      await files.close();
      checkEqual(
        (await store.list()).map((model) => [model.bytes, model.totalBytes]),
        [[3_000, 3_000]],
        'bytes in list',
      );
    },
  },
  {
    name: 'reads outside a part are errors, not zeros',
    run: async ({ store }) => {
      await putModel(store, [modelBytes(1_000)]);
      const files = await opened(store);
      checkEqual(await codeOf(files.read(0, 999, new Uint8Array(2))), 'io_failed', 'past the end');
      checkEqual(await codeOf(files.read(1, 0, new Uint8Array(1))), 'io_failed', 'another part');
      checkEqual(await codeOf(files.read(0, -1, new Uint8Array(1))), 'io_failed', 'before the beginning');
      await files.close();
    },
  },
  {
    name: 'list names every model with sizes and state',
    run: async (context) => {
      const other = 'https://models.example/other.gguf?download=true';
      const before = Date.now();
      await putModel(context.store, [modelBytes(1_000), modelBytes(500)]);
      const bytes = modelBytes(200_000);
      const half = await context.store.create(other, [partInfo(bytes, other)]);
      await putRanges(half, [bytes], (range) => range === 0);
      await half.close();
      await (await opened(context.store, other)).close();
      const models = (await (await context.reopen()).list()).sort((a, b) => a.bytes - b.bytes);
      checkEqual(
        models.map((model) => [model.url, model.state, model.bytes, model.totalBytes, model.complete]),
        [
          [url, 'complete', 1_500, 1_500, true],
          [other, 'partial', suiteRangeBytes, 200_000, false],
        ],
        'list',
      );
      check((models[1]?.lastUsed ?? 0) >= before, 'lastUsed is not noted when a model is opened');
    },
  },
  {
    name: 'removing one model leaves the others',
    run: async (context) => {
      const other = 'https://models.example/other.gguf';
      await putModel(context.store, [modelBytes(1_000)]);
      await putModel(context.store, [modelBytes(2_000)], other);
      checkEqual(await context.store.remove(url), true, 'remove');
      const store = await context.reopen();
      checkEqual(await store.open(url), null, 'open of the removed one');
      await (await opened(store, other)).close();
    },
  },
  {
    name: 'a model in use is neither removed nor overwritten',
    run: async ({ store }) => {
      const bytes = modelBytes(1_000);
      await putModel(store, [bytes]);
      const files = await opened(store);
      checkEqual(await codeOf(store.remove(url)), 'storage_busy', 'remove');
      checkEqual(await codeOf(store.create(url, [partInfo(bytes)])), 'storage_busy', 'create');
      await checkBytes(files, 0, bytes);
      await files.close();
      checkEqual(await store.remove(url), true, 'remove after close');
    },
  },
  {
    name: 'a second writer of the same model is refused and harms nothing',
    run: async ({ store }) => {
      const bytes = modelBytes(150_000);
      const files = await store.create(url, [partInfo(bytes)]);
      await putRanges(files, [bytes], (range) => range === 0);
      checkEqual(await codeOf(store.create(url, [partInfo(bytes)])), 'storage_busy', 'second create');
      checkEqual(await codeOf(store.open(url)), 'storage_busy', 'open');
      await putRanges(files, [bytes], (range) => range > 0);
      await checkBytes(files, 0, bytes);
      await files.close();
    },
  },
  {
    name: 'the caller may reuse its buffer after a range was taken in',
    run: async ({ store }) => {
      const bytes = modelBytes(150_000);
      const files = await store.create(url, [partInfo(bytes)]);
      const buffer = new Uint8Array(suiteRangeBytes);
      for (let range = 0; range < files.grid.count; ++range) {
        const { offset, bytes: count } = files.grid.extentOf(range);
        buffer.set(bytes.subarray(offset, offset + count));
        await files.put(range, buffer.subarray(0, count));
        buffer.fill(0xee);
      }
      await checkBytes(files, 0, bytes);
      await files.close();
    },
  },
  {
    name: 'a model of unknown length counts when it is finished, and not before',
    run: async (context) => {
      const bytes = modelBytes(100_000);
      const first = await context.store.createUnsized(url);
      await first.append(0, bytes.subarray(0, suiteRangeBytes));
      first.close();
      const store = await context.reopen();
      checkEqual(await store.open(url), null, 'open of an unfinished one');
      const again = await store.createUnsized(url);
      await again.append(0, bytes.subarray(0, suiteRangeBytes));
      await again.append(0, bytes.subarray(suiteRangeBytes));
      await again.finish([partInfo(bytes)]);
      const files = await opened(store);
      checkEqual(files.state, 'complete', 'state');
      await checkBytes(files, 0, bytes);
      await files.close();
    },
  },
];

// SPDX-License-Identifier: MIT
// What every ModelStore must do, as cases that need nothing but an assert: Jest runs them in node on the memory store
// and on OpfsStore over a fake file system, the browser tests on the real one, in a worker.

import type { ModelReader, ModelStore, PartInfo } from '#web/storage/model-store.js';

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

/** A model's bytes: magic, then bytes that tell their own position. */
export function modelBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; ++index) {
    bytes[index] = (index * 31 + (index >> 8) * 17 + seed) & 0xff;
  }
  bytes.set([0x47, 0x47, 0x55, 0x46].slice(0, length));
  return bytes;
}

function info(bytes: Uint8Array, from = url): PartInfo {
  return { url: from, bytes: bytes.length, etag: '"v1"' };
}

async function put(store: ModelStore, parts: readonly Uint8Array[], at = url): Promise<void> {
  const writer = await store.create(at);
  for (const [index, bytes] of parts.entries()) {
    for (let offset = 0; offset < bytes.length; offset += 100_000) {
      await writer.write(index, offset, bytes.subarray(offset, offset + 100_000));
    }
  }
  await writer.complete(parts.map((bytes) => info(bytes, at)));
}

async function opened(store: ModelStore, at = url): Promise<ModelReader> {
  const reader = await store.open(at);
  check(reader !== null, `${at} should be complete`);
  return reader;
}

async function checkBytes(reader: ModelReader, part: number, expected: Uint8Array): Promise<void> {
  const all = new Uint8Array(expected.length);
  await reader.read(part, 0, all);
  check(
    all.every((byte, index) => byte === expected[index]),
    `part ${part} has other bytes than were written`,
  );
}

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
    name: 'a completed model is read back byte for byte, also by the next page',
    run: async (context) => {
      const bytes = modelBytes(300_001);
      await put(context.store, [bytes]);
      const store = await context.reopen();
      const reader = await opened(store);
      checkEqual(reader.partBytes, [bytes.length], 'part sizes');
      await checkBytes(reader, 0, bytes);
      const some = new Uint8Array(1000);
      await reader.read(0, 299_001, some);
      check(
        some.every((byte, index) => byte === bytes[299_001 + index]),
        'the last bytes are wrong',
      );
      await reader.read(0, bytes.length, new Uint8Array(0));
      await reader.close();
    },
  },
  {
    name: 'all parts of a split model are kept, in their order',
    run: async (context) => {
      const parts = [modelBytes(5000, 1), modelBytes(7000, 2), modelBytes(4, 3)];
      await put(context.store, parts);
      const reader = await opened(await context.reopen());
      checkEqual(reader.partBytes, [5000, 7000, 4], 'part sizes');
      for (const [index, bytes] of parts.entries()) {
        await checkBytes(reader, index, bytes);
      }
      await reader.close();
    },
  },
  {
    name: 'an interrupted download is never taken for a model',
    run: async (context) => {
      const writer = await context.store.create(url);
      await writer.write(0, 0, modelBytes(200_000));
      checkEqual(await context.store.open(url).catch(() => null), null, 'open while it is written');
      const store = await context.reopen();
      if (store !== context.store) {
        checkEqual(await store.open(url), null, 'open after the page ended');
        checkEqual(
          (await store.list()).map((model) => [model.url, model.complete]),
          [[url, false]],
          'list after the page ended',
        );
      }
    },
  },
  {
    name: 'a short part is refused and nothing is believed',
    run: async (context) => {
      const bytes = modelBytes(10_000);
      const writer = await context.store.create(url);
      await writer.write(0, 0, bytes.subarray(0, 9_999));
      checkEqual(await codeOf(writer.complete([info(bytes)])), 'storage_failed', 'complete');
      await writer.discard();
      checkEqual(await context.store.open(url), null, 'open');
    },
  },
  {
    name: 'a part that was never written is refused',
    run: async ({ store }) => {
      const bytes = modelBytes(100);
      const writer = await store.create(url);
      await writer.write(0, 0, bytes);
      checkEqual(await codeOf(writer.complete([info(bytes), info(bytes)])), 'storage_failed', 'complete');
      await writer.discard();
    },
  },
  {
    name: 'bytes without the magic are refused',
    run: async ({ store }) => {
      const bytes = new TextEncoder().encode('<!doctype html><title>Sign in</title>');
      const writer = await store.create(url);
      await writer.write(0, 0, bytes);
      checkEqual(await codeOf(writer.complete([info(bytes)])), 'bad_magic', 'complete');
      await writer.discard();
      checkEqual(await store.open(url), null, 'open');
    },
  },
  {
    name: 'discard removes what was written, and the model can be stored again',
    run: async ({ store }) => {
      const writer = await store.create(url);
      await writer.write(0, 0, modelBytes(100_000));
      await writer.discard();
      checkEqual(await store.list(), [], 'list');
      await put(store, [modelBytes(50)]);
      await (await opened(store)).close();
    },
  },
  {
    name: 'storing again over a longer model leaves nothing of the old one',
    run: async ({ store }) => {
      await put(store, [modelBytes(10_000, 1), modelBytes(10_000, 2)]);
      const shorter = modelBytes(3_000, 9);
      await put(store, [shorter]);
      const reader = await opened(store);
      checkEqual(reader.partBytes, [3_000], 'part sizes');
      await checkBytes(reader, 0, shorter);
      await reader.close();
      checkEqual((await store.list())[0]?.bytes, 3_000, 'bytes in list');
    },
  },
  {
    name: 'reads outside a part are errors, not zeros',
    run: async ({ store }) => {
      await put(store, [modelBytes(1_000)]);
      const reader = await opened(store);
      checkEqual(await codeOf(reader.read(0, 999, new Uint8Array(2))), 'io_failed', 'past the end');
      checkEqual(await codeOf(reader.read(1, 0, new Uint8Array(1))), 'io_failed', 'another part');
      checkEqual(await codeOf(reader.read(0, -1, new Uint8Array(1))), 'io_failed', 'before the beginning');
      await reader.close();
    },
  },
  {
    name: 'list names every model with size and state',
    run: async (context) => {
      const other = 'https://models.example/other.gguf?download=true';
      const before = Date.now();
      await put(context.store, [modelBytes(1_000), modelBytes(500)]);
      await put(context.store, [modelBytes(2_000)], other);
      await (await opened(context.store, other)).close();
      const models = (await (await context.reopen()).list()).sort((a, b) => a.bytes - b.bytes);
      checkEqual(
        models.map((model) => [model.url, model.bytes, model.complete]),
        [
          [url, 1_500, true],
          [other, 2_000, true],
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
      await put(context.store, [modelBytes(1_000)]);
      await put(context.store, [modelBytes(2_000)], other);
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
      await put(store, [bytes]);
      const reader = await opened(store);
      checkEqual(await codeOf(store.remove(url)), 'storage_busy', 'remove');
      checkEqual(await codeOf(store.create(url)), 'storage_busy', 'create');
      await checkBytes(reader, 0, bytes);
      await reader.close();
      checkEqual(await store.remove(url), true, 'remove after close');
    },
  },
  {
    name: 'a second writer of the same model is refused and harms nothing',
    run: async ({ store }) => {
      const bytes = modelBytes(1_000);
      const writer = await store.create(url);
      await writer.write(0, 0, bytes.subarray(0, 600));
      checkEqual(await codeOf(store.create(url)), 'storage_busy', 'second create');
      await writer.write(0, 600, bytes.subarray(600));
      await writer.complete([info(bytes)]);
      const reader = await opened(store);
      await checkBytes(reader, 0, bytes);
      await reader.close();
    },
  },
  {
    name: 'the caller may reuse its buffer after a write',
    run: async ({ store }) => {
      const bytes = modelBytes(4_000);
      const writer = await store.create(url);
      const buffer = new Uint8Array(1_000);
      for (let offset = 0; offset < bytes.length; offset += buffer.length) {
        buffer.set(bytes.subarray(offset, offset + buffer.length));
        await writer.write(0, offset, buffer);
        buffer.fill(0xee);
      }
      await writer.complete([info(bytes)]);
      const reader = await opened(store);
      await checkBytes(reader, 0, bytes);
      await reader.close();
    },
  },
];

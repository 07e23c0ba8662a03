// SPDX-License-Identifier: MIT
// What is done with a stored model as a whole, without an engine: verify, export, import. All of it streams.

import { checkQuota } from '../download/begin.js';
import { partUrls } from '../download/parts.js';
import { eachRange, findDamage } from '../download/verify.js';
import { createError } from '../errors.js';
import type { CallContext } from '../protocol/dispatcher.js';
import type { StorageMethods } from '../protocol/methods.js';
import { openFiles } from '../storage/blob-reader.js';
import type { ModelFiles } from '../storage/model-files.js';
import type { ModelStore } from '../storage/model-store.js';
import { rangeHash } from '../storage/range-hash.js';

type Method<K extends keyof StorageMethods> = StorageMethods[K];

export async function verify(
  store: ModelStore,
  url: string,
  { signal, progress }: CallContext<Method<'verify'>>,
): Promise<Method<'verify'>['result']> {
  const files = await store.open(url);
  if (files === null) {
    return null;
  }
  try {
    const { totalBytes } = files.grid;
    const damaged = await findDamage(files, signal, (loadedBytes) => progress({ loadedBytes, totalBytes }));
    return { damaged, state: files.state };
  } finally {
    await files.close();
  }
}

export async function exportPart(
  store: ModelStore,
  { url, part }: Method<'export'>['params'],
  { signal, chunk }: CallContext<Method<'export'>>,
): Promise<Method<'export'>['result']> {
  const files = await store.open(url);
  try {
    const bytes = files?.grid.partBytes[part];
    if (files === null || bytes === undefined || !files.isComplete) {
      throw createError('storage_failed', `part ${part} of ${url} is not stored whole`, {
        details: { url, part },
      });
    }
    await eachRange(files, files.grid.rangesOfPart(part), signal, async (range, data) => {
      const expected = files.expectedHash(range);
      if (expected !== null && rangeHash(data) !== expected) {
        await files.revoke(range);
        const { offset, bytes: length } = files.grid.extentOf(range);
        throw createError('range_damaged', `bytes ${offset} to ${offset + length} of ${url} are damaged`, {
          details: { url, part, offset, bytes: length },
        });
      }
      await chunk({ data: data.slice() });
    });
    return { bytes };
  } finally {
    await files?.close();
  }
}

/** An import that is cut short leaves what it has copied; the next one goes on with the rest. */
export async function importFiles(
  store: ModelStore,
  { url, files: chosen }: Method<'import'>['params'],
  { signal, progress }: CallContext<Method<'import'>>,
  estimate: (() => Promise<StorageEstimate>) | undefined,
): Promise<Method<'import'>['result']> {
  const reader = await openFiles(chosen);
  const urls = partUrls(url);
  const parts = reader.partBytes.map((bytes, index) => {
    return { url: urls[index] ?? url, bytes, etag: null, lastModified: null, sha256: null };
  });
  const files = (await sameAsBefore(store, url, reader.partBytes)) ?? (await store.create(url, parts));
  try {
    const { totalBytes } = files.grid;
    await checkQuota(totalBytes - files.verifiedBytes, store.kind === 'opfs' ? estimate : undefined);
    for (let range = 0; range < files.grid.count; ++range) {
      const { part, offset, bytes } = files.grid.extentOf(range);
      const data = new Uint8Array(bytes);
      await reader.read(part, offset, data);
      // What is there already is of this file only if it has the same hash.
      if (!files.has(range) || files.expectedHash(range) !== rangeHash(data)) {
        await files.put(range, data);
      }
      signal.throwIfAborted();
      progress({ loadedBytes: files.verifiedBytes, totalBytes });
    }
    await files.settle();
    return { bytes: totalBytes };
  } finally {
    await files.close();
  }
}

/** null: there is nothing to go on with. */
async function sameAsBefore(
  store: ModelStore,
  url: string,
  partBytes: readonly number[],
): Promise<ModelFiles | null> {
  const files = await store.open(url);
  if (files !== null && JSON.stringify(files.grid.partBytes) === JSON.stringify(partBytes)) {
    return files;
  }
  await files?.close();
  return null;
}

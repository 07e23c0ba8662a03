// SPDX-License-Identifier: MIT
// A whole download in one call, as the storage worker makes it, and what is in the store afterwards.

import type { BeginOptions } from '#web/download/begin.js';
import type { LiveModel } from '#web/download/live-model.js';
import { MemoryBackend } from '#web/storage/memory-folder.js';
import { ModelStore } from '#web/storage/model-store.js';
import { OpenModels } from '#web/worker/open-models.js';
import { never, within } from './assertions.js';
import { quickRetry } from './test-host.js';

export const testRangeBytes = 65_536;

export const memoryStore = (limitBytes?: number): ModelStore =>
  new ModelStore(new MemoryBackend(limitBytes), testRangeBytes);

export interface GetOptions extends Partial<BeginOptions> {
  onLive?: (live: LiveModel) => void;
}

/** Opens what is stored or begins anew, and closes again when all is there or the download failed. */
export async function get(
  store: ModelStore,
  url: string,
  { onLive, ...options }: GetOptions = {},
): Promise<void> {
  const begin: BeginOptions = { signal: never(), retry: quickRetry, ...options };
  const models = new OpenModels();
  const work = async (): Promise<void> => {
    const acquire = { headers: {}, fetch: 'demand', verifyReads: 'first', sha256: [] } as const;
    const modelId = await models.acquire(store, url, acquire, begin);
    const { live } = models.require(modelId);
    const download = await live?.startDownload();
    const stop = (): void => download?.stop(begin.signal.reason);
    begin.signal.addEventListener('abort', stop, { once: true });
    try {
      if (begin.onProgress !== undefined) {
        download?.onProgress(begin.onProgress);
      }
      if (live !== null) {
        onLive?.(live);
      }
      await live?.whole();
    } finally {
      await models.close(store, modelId);
    }
  };
  await within(20_000, work(), 'the download');
}

/** null unless it is complete. */
export async function stored(store: ModelStore, url: string): Promise<Uint8Array[] | null> {
  const files = await store.open(url);
  if (files?.state !== 'complete') {
    await files?.close();
    return null;
  }
  const parts: Uint8Array[] = [];
  for (const [index, length] of files.grid.partBytes.entries()) {
    const part = new Uint8Array(length);
    await files.read(index, 0, part);
    parts.push(part);
  }
  await files.close();
  return parts;
}

export async function verifiedBytes(store: ModelStore, url: string): Promise<number> {
  return (await store.list()).find((model) => model.url === url)?.bytes ?? 0;
}

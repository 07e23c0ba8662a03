// SPDX-License-Identifier: MIT
// A server that does not say how long a file is (it compresses on the way, say): everything in one go, in file order.
// Nothing can be resumed, and nothing counts before the end.

import { checkMagic } from '../storage/checks.js';
import type { ModelStore } from '../storage/model-store.js';
import type { PartInfo } from '../storage/store-types.js';
import type { BeginOptions } from './begin.js';
import { readBody } from './body.js';
import { ProgressReports } from './progress.js';
import { requestPart, type PartAnswer } from './request.js';
import { defaultRetryPolicy } from './retry.js';

export async function downloadUnsized(
  store: ModelStore,
  url: string,
  partUrls: readonly string[],
  answers: Map<number, PartAnswer>,
  options: BeginOptions,
): Promise<void> {
  const { signal } = options;
  const stallMs = options.retry?.stallMs ?? defaultRetryPolicy.stallMs;
  let loadedBytes = 0;
  const progress = new ProgressReports(() => ({ loadedBytes, totalBytes: 0 }));
  if (options.onProgress !== undefined) {
    progress.listen(options.onProgress);
  }
  const files = await store.createUnsized(url);
  try {
    const parts: PartInfo[] = [];
    for (const [index, partUrl] of partUrls.entries()) {
      const begun = answers.get(index);
      const answer =
        begun?.ranged === false ? begun : await requestPart(partUrl, null, null, options, signal);
      answers.set(index, answer);
      const buffer = new Uint8Array(files.rangeBytes);
      let [filled, bytes] = [0, 0];
      const flush = async (): Promise<void> => {
        if (bytes === filled) {
          checkMagic(buffer.subarray(0, filled), partUrl);
        }
        await files.append(index, buffer.subarray(0, filled));
        filled = 0;
      };
      const take = async (chunk: Uint8Array): Promise<void> => {
        for (let done = 0; done < chunk.length;) {
          const count = Math.min(chunk.length - done, buffer.length - filled);
          buffer.set(chunk.subarray(done, done + count), filled);
          [filled, done, bytes] = [filled + count, done + count, bytes + count];
          loadedBytes += count;
          if (filled === buffer.length) {
            await flush();
          }
        }
        progress.changed();
      };
      await readBody(answer, take, { url: partUrl, signal, stallMs });
      if (filled > 0 || bytes === 0) {
        await flush();
      }
      const { etag, lastModified } = answer;
      parts.push({ url: partUrl, bytes, etag, lastModified, sha256: options.sha256?.[index] ?? null });
    }
    await files.finish(parts);
    progress.flush();
  } catch (error) {
    files.close();
    await store.remove(url).catch(() => undefined);
    throw error;
  } finally {
    progress.stop();
  }
}

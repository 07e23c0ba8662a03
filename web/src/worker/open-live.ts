// SPDX-License-Identifier: MIT
// Opens a model of the store that is not whole, or not there. Loaded when there is one: most visits find theirs stored.

import { beginDownload, type BeginOptions } from '../download/begin.js';
import { LiveModel } from '../download/live-model.js';
import { ModelDownload } from '../download/model-download.js';
import { RemoteModel } from '../download/remote-model.js';
import { delay } from '../download/retry.js';
import { checkWhole } from '../download/verify.js';
import { createError, LayerstreamError } from '../errors.js';
import type { AcquireOptions } from '../protocol/methods.js';
import type { ModelFiles } from '../storage/model-files.js';
import type { ModelStore } from '../storage/model-store.js';

const [busyAttempts, busyDelayMs] = [20, 50];

/** Models that came from files cannot be fetched. */
const isFetchable = (url: string): boolean => /^(https?|blob|data):/.test(url);

/** For what is missing of a stored model; null: it came from a file. */
export const newDownload = (files: ModelFiles, begin: BeginOptions): ModelDownload | null =>
  isFetchable(files.url) ? new ModelDownload(files, begin) : null;

const liveOf = (files: ModelFiles, download: ModelDownload | null): LiveModel =>
  new LiveModel(files, async () => ({ newDownload: () => download, checkWhole }), download);

/** Stored: as it is, going on with what is missing. Absent, or known to be wrong as a whole: anew. */
export async function openLive(
  store: ModelStore,
  url: string,
  fetch: AcquireOptions['fetch'],
  begin: BeginOptions,
): Promise<LiveModel | RemoteModel> {
  const files = await openWhenFree(store, url, begin.signal);
  if (files !== null && files.wholeIsGood !== false) {
    const live = await resume(files, fetch, begin);
    if (live !== null) {
      return live;
    }
  }
  await files?.close();
  if (!isFetchable(url)) {
    throw createError('bad_argument', `${url} is not stored, and cannot be downloaded`, { details: { url } });
  }
  const begun = await beginDownload(store, url, begin);
  return begun instanceof RemoteModel ? begun : liveOf(begun.files, begun.download);
}

/** The handles of a tab that died are free a moment later than its turn. */
async function openWhenFree(store: ModelStore, url: string, signal: AbortSignal): Promise<ModelFiles | null> {
  for (let attempt = 1; ; ++attempt) {
    try {
      return await store.open(url);
    } catch (error) {
      const isBusy = error instanceof LayerstreamError && error.code === 'storage_busy';
      if (!isBusy || attempt === busyAttempts) {
        throw error;
      }
      await delay(busyDelayMs, signal);
    }
  }
}

/** null: the file at the URL is another one now. What was found to be damaged is only fetched when it is needed. */
async function resume(
  files: ModelFiles,
  fetch: AcquireOptions['fetch'],
  begin: BeginOptions,
): Promise<LiveModel | null> {
  const download = newDownload(files, begin);
  try {
    if (download !== null && files.state === 'partial' && fetch === 'all') {
      await download.begin(begin.signal);
    }
    return liveOf(files, download);
  } catch (error) {
    download?.stop(error);
    if (error instanceof LayerstreamError && error.code === 'remote_changed') {
      return null;
    }
    await files.close();
    throw error;
  }
}

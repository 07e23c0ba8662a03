// SPDX-License-Identifier: MIT
// The first requests for a model that is not stored yet, or not whole: what its parts are, whether the server knows
// ranges, and whether there is room. The bodies that begin to arrive are handed on, so that nothing is fetched twice.

import { createError } from '../errors.js';
import { checkMagic } from '../storage/checks.js';
import type { ModelFiles } from '../storage/model-files.js';
import type { ModelStore } from '../storage/model-store.js';
import type { PartInfo } from '../storage/store-types.js';
import { orStalled } from './body.js';
import { ModelDownload, type DownloadOptions } from './model-download.js';
import { partUrls } from './parts.js';
import { noRanges, RemoteModel } from './remote-model.js';
import { requestPart, sizeOf, type PartAnswer } from './request.js';
import { defaultRetryPolicy, delay, delayBefore } from './retry.js';
import { downloadUnsized } from './unsized.js';

export interface BeginOptions extends DownloadOptions {
  signal: AbortSignal;
  /** navigator.storage.estimate where there is one. */
  estimate?: () => Promise<StorageEstimate>;
  /** Of the first request; more follow. Default: enough for most headers. */
  firstBytes?: number;
  /** Stated by the caller, per part, in hex. */
  sha256?: readonly string[];
  onProgress?: (progress: { loadedBytes: number; totalBytes: number }) => void;
}

const firstRequestBytes = 8 << 20;
/** Of the other parts of a split model. */
const furtherRequestBytes = 1 << 20;
/** In memory: journal, manifest, and what is rounded up. */
const bookkeepingBytes = 4 << 20;

/** Throws storage_quota if `neededBytes` more will not fit. An estimate that fails proves nothing. */
export async function checkQuota(
  neededBytes: number,
  estimate: (() => Promise<StorageEstimate>) | undefined,
): Promise<void> {
  const { quota, usage } = (await estimate?.().catch(() => undefined)) ?? {};
  if (quota === undefined || usage === undefined || quota - usage >= neededBytes) {
    return;
  }
  const availableBytes = Math.max(0, quota - usage);
  throw createError(
    'storage_quota',
    `the model needs ${neededBytes} bytes of storage, the browser grants this site ${availableBytes} more`,
    { details: { neededBytes, availableBytes, quotaBytes: quota, usageBytes: usage } },
  );
}

/** A busy server is asked again; one that is not there is not. */
async function firstAnswer(url: string, bytes: number, options: BeginOptions): Promise<PartAnswer> {
  const retry = { ...defaultRetryPolicy, ...options.retry };
  for (let attempt = 1; ; ++attempt) {
    try {
      const asking = requestPart(url, { first: 0, last: bytes - 1 }, null, options, options.signal);
      return await orStalled(asking, { url, signal: options.signal, stallMs: retry.stallMs });
    } catch (error) {
      options.signal.throwIfAborted();
      const isStatus = error instanceof Error && 'code' in error && error.code === 'http_status';
      const waitMs = isStatus ? delayBefore(attempt, error, retry) : null;
      if (waitMs === null) {
        throw error;
      }
      await delay(waitMs, options.signal);
    }
  }
}

interface Announced {
  infos: PartInfo[];
  /** By part; some have none yet. */
  answers: Map<number, PartAnswer>;
}

/** null: the length of some part is not known. `answers` is filled on the way, so that they can be cancelled. */
async function announce(
  urls: readonly string[],
  answers: Map<number, PartAnswer>,
  options: BeginOptions,
): Promise<Announced | null> {
  const infos: PartInfo[] = [];
  for (const [index, url] of urls.entries()) {
    // Without ranges the parts come one after another: their bodies must not wait.
    const askSize = index > 0 && answers.get(0)?.ranged === false;
    const firstBytes = index > 0 ? furtherRequestBytes : (options.firstBytes ?? firstRequestBytes);
    const answer = askSize ? null : await firstAnswer(url, firstBytes, options);
    if (answer !== null) {
      answers.set(index, answer);
    }
    const bytes = answer === null ? await sizeOf(url, options, options.signal) : answer.totalBytes;
    if (bytes === null) {
      return null;
    }
    if (bytes === 0) {
      checkMagic(new Uint8Array(), url);
    }
    infos.push({
      url,
      bytes,
      etag: answer?.etag ?? null,
      lastModified: answer?.lastModified ?? null,
      sha256: options.sha256?.[index]?.toLowerCase() ?? null,
    });
  }
  return { infos, answers };
}

/** Throws storage_quota unless every server knows ranges. */
function leaveRemote(
  { infos, answers }: Announced,
  sizes: { neededBytes: number; availableBytes: number },
  options: BeginOptions,
): RemoteModel {
  for (const [part, { url }] of infos.entries()) {
    const answer = answers.get(part);
    void answer?.response.body?.cancel().catch(() => undefined);
    if (answer?.ranged !== true) {
      throw noRanges(url, sizes);
    }
  }
  return new RemoteModel(infos, options);
}

/**
 * A model that is not stored: its entry in the store, and its download, which has begun. A server that announces no
 * length has sent everything already. What the store does not hold stays where it is.
 */
export async function beginDownload(
  store: ModelStore,
  url: string,
  options: BeginOptions,
): Promise<{ files: ModelFiles; download: ModelDownload } | RemoteModel> {
  const answers = new Map<number, PartAnswer>();
  try {
    const urls = partUrls(url);
    const announced = await announce(urls, answers, options);
    if (announced === null) {
      await downloadUnsized(store, url, urls, answers, options);
      const files = await store.open(url);
      if (files === null) {
        throw createError('storage_failed', `${url} was stored, but cannot be opened`, { details: { url } });
      }
      return { files, download: new ModelDownload(files, options) };
    }
    const total = announced.infos.reduce((sum, part) => sum + part.bytes, 0);
    await checkQuota(total, store.kind === 'opfs' ? options.estimate : undefined);
    options.signal.throwIfAborted();
    if (total + bookkeepingBytes > store.freeBytes) {
      return leaveRemote(announced, { neededBytes: total, availableBytes: store.freeBytes }, options);
    }
    const files = await store.create(url, announced.infos);
    return { files, download: new ModelDownload(files, options, announced.answers) };
  } catch (error) {
    for (const answer of answers.values()) {
      void answer.response.body?.cancel().catch(() => undefined);
    }
    throw error;
  }
}

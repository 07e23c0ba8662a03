// SPDX-License-Identifier: MIT
// A model that is not kept: every read is a request for a range. For pages without a file system, and models that memory
// does not hold. Each answer must be of the file whose header was read first.

import { createError, type LayerstreamError } from '../errors.js';
import { checkExtent } from '../storage/checks.js';
import type { ModelReader, PartInfo, StorageKind } from '../storage/store-types.js';
import { orStalled, readBody } from './body.js';
import type { DownloadOptions } from './model-download.js';
import { badLength, requestPart } from './request.js';
import { defaultRetryPolicy, delay, delayBefore, type RetryPolicy } from './retry.js';

/** What memory does not hold can only be read piece by piece. */
export function noRanges(
  url: string,
  sizes: { neededBytes: number; availableBytes?: number },
): LayerstreamError {
  return createError(
    'storage_quota',
    `${url} has ${sizes.neededBytes} bytes, which this page cannot keep, and its server does not send it in pieces`,
    { details: { url, ...sizes } },
  );
}

export class RemoteModel implements ModelReader {
  readonly kind: StorageKind = 'network';
  readonly partBytes: readonly number[];
  readonly #parts: readonly PartInfo[];
  readonly #options: DownloadOptions;
  readonly #retry: RetryPolicy;
  readonly #closing = new AbortController();

  constructor(parts: readonly PartInfo[], options: DownloadOptions) {
    this.partBytes = parts.map((part) => part.bytes);
    this.#parts = parts;
    this.#options = options;
    this.#retry = { ...defaultRetryPolicy, ...options.retry };
  }

  /** Goes on at the byte where a connection broke. */
  async read(part: number, offset: number, into: Uint8Array, signal?: AbortSignal): Promise<void> {
    checkExtent(part, offset, into.length, this.partBytes);
    const info = this.#parts[part];
    const stop = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    let done = 0;
    const take = async (chunk: Uint8Array): Promise<void> => {
      if (chunk.length > into.length - done) {
        throw badLength(`${info?.url} sends more than was asked for`, { url: info?.url });
      }
      into.set(chunk, done);
      done += chunk.length;
    };
    for (let attempt = 1; info !== undefined && done < into.length;) {
      const before = done;
      try {
        await this.#fetch(info, { first: offset + done, last: offset + into.length - 1 }, take, stop);
      } catch (error) {
        stop.throwIfAborted();
        attempt = done > before ? 1 : attempt;
        const waitMs = delayBefore(attempt, error, this.#retry);
        if (waitMs === null) {
          throw error;
        }
        await delay(waitMs, stop);
        attempt += 1;
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(createError('disposed', 'the model was closed'));
  }

  async #fetch(
    info: PartInfo,
    range: { first: number; last: number },
    take: (chunk: Uint8Array) => Promise<void>,
    stop: AbortSignal,
  ): Promise<void> {
    const attempt = new AbortController();
    const signal = AbortSignal.any([stop, attempt.signal]);
    const options = { url: info.url, stallMs: this.#retry.stallMs, signal };
    try {
      const answer = await orStalled(requestPart(info.url, range, info, this.#options, signal), options);
      if (!answer.ranged) {
        throw noRanges(info.url, { neededBytes: info.bytes });
      }
      await readBody(answer, take, options);
    } finally {
      attempt.abort();
    }
  }
}

// SPDX-License-Identifier: MIT
// Reads the body of an answer, chunk by chunk, and notices when it breaks, stalls, or is longer or shorter than
// announced.

import { delay } from './retry.js';
import { badLength, failed, type PartAnswer } from './request.js';

export interface BodyOptions {
  url: string;
  signal: AbortSignal;
  stallMs: number;
}

/** Rejects when `reading` takes too long. */
export async function orStalled<T>(reading: Promise<T>, { url, signal, stallMs }: BodyOptions): Promise<T> {
  const timer = new AbortController();
  const stalled = delay(stallMs, AbortSignal.any([signal, timer.signal])).then(() => {
    throw failed(`${url} sent nothing for ${stallMs} ms`, { url, stallMs });
  });
  stalled.catch(() => undefined);
  try {
    return await Promise.race([reading, stalled]);
  } finally {
    timer.abort();
  }
}

/** Gives each chunk to `take`, one after another. */
export async function readBody(
  { response, bodyBytes }: PartAnswer,
  take: (chunk: Uint8Array) => Promise<void>,
  options: BodyOptions,
): Promise<void> {
  const { url, signal } = options;
  let received = 0;
  const numbers = (): Record<string, unknown> => ({
    url,
    receivedBytes: received,
    announcedBytes: bodyBytes,
  });
  const reader = response.body?.getReader();
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = (await orStalled(
        reader?.read() ?? Promise.resolve({ done: true as const, value: undefined }),
        options,
      ).catch((error: unknown) => {
        signal.throwIfAborted();
        throw failed(
          `the connection to ${url} broke after ${received} of ${bodyBytes ?? 'an unknown number of'} bytes`,
          numbers(),
          error,
        );
      })) as { done: boolean; value: Uint8Array | undefined };
      if (done || value === undefined) {
        break;
      }
      received += value.length;
      if (bodyBytes !== null && received > bodyBytes) {
        throw badLength(`${url} sends more than the ${bodyBytes} bytes it announced`, numbers());
      }
      await take(value);
    }
  } catch (error) {
    // Not awaited: a source that stalls may never answer this either.
    void reader?.cancel().catch(() => undefined);
    throw error;
  }
  if (bodyBytes !== null && received !== bodyBytes) {
    throw badLength(`${url} ended after ${received} of ${bodyBytes} bytes`, numbers());
  }
}

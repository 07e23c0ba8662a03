// SPDX-License-Identifier: MIT
// Which failures of the network are worth another try, and when.

import { LayerstreamError } from '../errors.js';

export interface RetryPolicy {
  /** Tries without any progress before giving up; progress starts the count anew. */
  attempts: number;
  /** Before the second try; doubles with each further one. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** A connection that brings nothing for so long is given up. */
  stallMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 6,
  firstDelayMs: 500,
  maxDelayMs: 15_000,
  stallMs: 30_000,
};

const passingStatuses: readonly unknown[] = [408, 425, 429, 500, 502, 503, 504];
/** A server that wants longer is not waited for. */
const longestRetryAfterMs = 60_000;

/** Milliseconds to wait; null: trying again is no use. */
export function delayBefore(attempt: number, error: unknown, policy: RetryPolicy): number | null {
  if (!(error instanceof LayerstreamError) || attempt >= policy.attempts) {
    return null;
  }
  const backoff = Math.min(policy.firstDelayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  if (error.code === 'network_failed') {
    return backoff;
  }
  if (error.code !== 'http_status' || !passingStatuses.includes(error.details['status'])) {
    return null;
  }
  const asked = error.details['retryAfterMs'];
  if (typeof asked !== 'number') {
    return backoff;
  }
  return asked <= longestRetryAfterMs ? Math.max(asked, policy.firstDelayMs) : null;
}

/** Rejects with the signal's reason. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

// SPDX-License-Identifier: MIT
// Small helpers that tests share.

import { rm, mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** What `run` threw; fails if it did not. */
export async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** `code` of what `run` threw. */
export async function codeOf(run: () => unknown): Promise<unknown> {
  const error = await thrownBy(run);
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : error;
}

/** Rejects after `ms`, so that a hang is a failure with a name. */
export function within<T>(ms: number, promise: Promise<T>, what = 'this'): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${ms} ms`)), ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'layerstream-test-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lets messages and timers run. */
export const pause = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const never = (): AbortSignal => new AbortController().signal;

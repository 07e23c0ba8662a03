// SPDX-License-Identifier: MIT
// Checks and words that every store shares.

import { createError, errorName, LayerstreamError, messageOf } from '../errors.js';
import { ggufMagic } from './store-types.js';

export function hasMagic(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && String.fromCharCode(...bytes.subarray(0, 4)) === ggufMagic;
}

/** `head`: the first bytes of something called `name`. */
export function checkMagic(head: Uint8Array, name: string): void {
  if (!hasMagic(head)) {
    throw createError('bad_magic', `${name} does not begin with ${ggufMagic}: it is not a GGUF file`, {
      details: { url: name, name },
    });
  }
}

export function checkExtent(part: number, offset: number, bytes: number, partBytes: readonly number[]): void {
  const size = partBytes[part];
  if (size === undefined || offset < 0 || offset + bytes > size) {
    throw createError(
      'io_failed',
      `bytes ${offset} to ${offset + bytes} of part ${part} are outside it (${size ?? 'no such part'} bytes)`,
      { details: { part, offset, bytes, partBytes: size ?? null } },
    );
  }
}

export function shortRead(part: number, offset: number, wanted: number, got: number): LayerstreamError {
  return createError('io_failed', `part ${part}: ${got} of ${wanted} bytes at ${offset} could be read`, {
    details: { part, offset, wantedBytes: wanted, gotBytes: got },
  });
}

/** Our words for what the File System API throws. */
export function storageError(error: unknown, url: string): LayerstreamError {
  switch (errorName(error)) {
    case 'NoModificationAllowedError':
    case 'InvalidStateError':
      return createError('storage_busy', `${url} is in use by another tab or another loaded model`, {
        details: { url },
        cause: error,
      });
    case 'QuotaExceededError':
      return createError('storage_quota', `the browser gives no more storage for ${url}`, {
        details: { url },
        cause: error,
      });
    default:
      return error instanceof LayerstreamError
        ? error
        : createError('storage_failed', `the browser's file system refused ${url}: ${messageOf(error)}`, {
            details: { url, name: errorName(error) },
            cause: error,
          });
  }
}

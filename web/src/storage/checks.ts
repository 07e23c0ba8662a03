// SPDX-License-Identifier: MIT
// Checks that every store makes in the same words.

import { createError, LayerstreamError } from '../errors.js';
import { ggufMagic, type PartInfo } from './model-store.js';

export function hasMagic(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && String.fromCharCode(...bytes.subarray(0, 4)) === ggufMagic;
}

/** `head`: the first four bytes as they are stored. */
export function checkStoredPart(part: PartInfo, storedBytes: number, head: Uint8Array): void {
  if (storedBytes !== part.bytes) {
    throw createError(
      'storage_failed',
      `${part.url}: ${storedBytes} bytes are stored, ${part.bytes} were expected`,
      {
        details: { url: part.url, storedBytes, expectedBytes: part.bytes },
      },
    );
  }
  if (!hasMagic(head)) {
    throw createError('bad_magic', `${part.url} does not begin with ${ggufMagic}`, {
      details: { url: part.url },
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

export function busy(url: string, cause?: unknown): LayerstreamError {
  return createError('storage_busy', `${url} is in use by another tab or another loaded model`, {
    details: { url },
    cause,
  });
}

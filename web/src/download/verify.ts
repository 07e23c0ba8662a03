// SPDX-License-Identifier: MIT
// Checks of everything that is stored: each range against its recorded hash, and whole parts against a SHA-256 that the
// source stated.

import { createError } from '../errors.js';
import type { RangeExtent } from '../storage/grid.js';
import type { ModelFiles } from '../storage/model-files.js';
import { rangeHash } from '../storage/range-hash.js';
import { Sha256 } from '../storage/sha256.js';

/** Lets messages in. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** In order; those that do not count are left out. The bytes are valid until `visit` settles. */
export async function eachRange(
  files: ModelFiles,
  ranges: { first: number; end: number },
  signal: AbortSignal,
  visit: (range: number, bytes: Uint8Array) => Promise<void> | void,
): Promise<void> {
  const buffer = new Uint8Array(files.grid.rangeBytes);
  for (let range = ranges.first; range < ranges.end; ++range) {
    const { part, offset, bytes } = files.grid.extentOf(range);
    if (files.has(range)) {
      const into = buffer.subarray(0, bytes);
      await files.read(part, offset, into);
      await visit(range, into);
    }
    await turn();
    signal.throwIfAborted();
  }
}

/** Throws hash_mismatch, and notes it, unless every part has its SHA-256; '' stands for one that nobody stated. */
export async function checkWhole(
  files: ModelFiles,
  stated: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const [part, info] of files.parts.entries()) {
    const expected = stated[part]?.toLowerCase() ?? '';
    if (expected === '') {
      continue;
    }
    const sha = new Sha256();
    await eachRange(files, files.grid.rangesOfPart(part), signal, (_, bytes) => sha.update(bytes));
    const actual = sha.digest();
    if (actual !== expected) {
      await files.noteWhole(false);
      throw createError('hash_mismatch', `${info.url} has the SHA-256 ${actual}, stated was ${expected}`, {
        details: { url: info.url, part, sha256: actual, expectedSha256: expected },
      });
    }
  }
  await files.noteWhole(true);
}

/** Compares every stored range with its hash. Those that differ no longer count, and are returned. */
export async function findDamage(
  files: ModelFiles,
  signal: AbortSignal,
  onProgress: (checkedBytes: number) => void,
): Promise<RangeExtent[]> {
  const damaged: RangeExtent[] = [];
  let checkedBytes = 0;
  await eachRange(files, { first: 0, end: files.grid.count }, signal, async (range, bytes) => {
    const hash = rangeHash(bytes);
    const expected = files.expectedHash(range);
    if (expected === null) {
      await files.adopt(range, hash);
    } else if (expected !== hash) {
      damaged.push(files.grid.extentOf(range));
      await files.revoke(range);
    }
    checkedBytes += bytes.length;
    onProgress(checkedBytes);
  });
  return damaged;
}

// SPDX-License-Identifier: MIT
// SHA-256 against node's, and what the range hash promises.

import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { rangeHash } from '#web/storage/range-hash.js';
import { RangeHasher } from '#web/storage/range-hasher.js';
import { Sha256 } from '#web/storage/sha256.js';
import { Random } from './support/random.js';

function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

describe('SHA-256', () => {
  test('equals an independent one for every length around the block borders, in pieces of any size', () => {
    const random = new Random(1);
    for (let length = 0; length < 300; ++length) {
      const bytes = randomBytes(random, length);
      const sha = new Sha256();
      for (let at = 0; at < length;) {
        const count = 1 + random.below(90);
        sha.update(bytes.subarray(at, at + count));
        at += count;
      }
      expect(sha.digest()).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });
});

describe('the range hash', () => {
  test('tells any flipped bit, whatever the length', () => {
    const random = new Random(2);
    for (let round = 0; round < 400; ++round) {
      const bytes = randomBytes(random, 1 + random.below(200));
      const hash = rangeHash(bytes);
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      expect(rangeHash(bytes)).not.toBe(hash);
    }
  });

  test('tells lengths, zeros, exchanged words and exchanged lanes apart', () => {
    const hashes = [
      ...Array.from({ length: 70 }, (_, length) => rangeHash(new Uint8Array(length))),
      ...[0, 4, 8, 16, 32].map((at) => {
        const bytes = new Uint8Array(64);
        bytes[at] = 1;
        return rangeHash(bytes);
      }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('does not depend on where the bytes lie', () => {
    const bytes = randomBytes(new Random(3), 1000);
    for (const shift of [1, 2, 3, 4]) {
      const moved = new Uint8Array(1010);
      moved.set(bytes, shift);
      expect(rangeHash(moved.subarray(shift, shift + 1000))).toBe(rangeHash(bytes));
    }
  });

  test('is the same of the hasher with vectors, for all lengths in any order', () => {
    const random = new Random(4);
    const hasher = new RangeHasher();
    for (const length of [200_000, ...Array.from({ length: 300 }, (_, i) => i), 1 << 17, 1, 70_001]) {
      const bytes = randomBytes(random, length);
      hasher.buffer(length).set(bytes);
      expect(hasher.hash(length)).toBe(rangeHash(bytes));
    }
  });

  test('is the one that stores have recorded', () => {
    expect(rangeHash(new TextEncoder().encode('GGUF, the same for ever'))).toBe(
      '313e48179bf07fb521f3110a7d5c7a5b',
    );
  });
});

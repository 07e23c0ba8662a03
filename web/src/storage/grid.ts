// SPDX-License-Identifier: MIT
// A model cut into ranges: stretches of `rangeBytes` of each part, numbered through all parts. A range is what is
// fetched, hashed, journalled and repaired as a whole.

import { createError } from '../errors.js';

export interface RangeExtent {
  part: number;
  offset: number;
  bytes: number;
}

/** Small enough that a lost connection or a flipped bit costs little, large enough for fast reads and few records. */
export const defaultRangeBytes = 1 << 20;

export class RangeGrid {
  readonly rangeBytes: number;
  readonly partBytes: readonly number[];
  readonly count: number;
  readonly totalBytes: number;
  /** Number of each part's first range; one more for the end. */
  readonly #starts: number[] = [0];

  constructor(partBytes: readonly number[], rangeBytes = defaultRangeBytes) {
    this.rangeBytes = rangeBytes;
    this.partBytes = partBytes;
    for (const bytes of partBytes) {
      this.#starts.push((this.#starts.at(-1) ?? 0) + Math.ceil(bytes / rangeBytes));
    }
    this.count = this.#starts.at(-1) ?? 0;
    this.totalBytes = partBytes.reduce((sum, bytes) => sum + bytes, 0);
  }

  extentOf(range: number): RangeExtent {
    const part = this.#starts.findLastIndex((start) => start <= range);
    const size = this.partBytes[part];
    if (range < 0 || range >= this.count || size === undefined) {
      throw createError('internal', `there is no range ${range} of ${this.count}`);
    }
    const offset = (range - (this.#starts[part] ?? 0)) * this.rangeBytes;
    return { part, offset, bytes: Math.min(this.rangeBytes, size - offset) };
  }

  /** Numbers of the ranges that hold these bytes: [first, end). */
  rangesOf({ part, offset, bytes }: RangeExtent): { first: number; end: number } {
    const start = this.#starts[part] ?? 0;
    const first = start + Math.floor(offset / this.rangeBytes);
    return { first, end: bytes === 0 ? first : start + Math.ceil((offset + bytes) / this.rangeBytes) };
  }

  /** [first, end) of a part. */
  rangesOfPart(part: number): { first: number; end: number } {
    return { first: this.#starts[part] ?? 0, end: this.#starts[part + 1] ?? 0 };
  }
}

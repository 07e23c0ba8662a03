// SPDX-License-Identifier: MIT
// Which ranges to fetch next: those that somebody waits for, then the rest in the order in which a pass will need them.

import type { RangeExtent, RangeGrid } from '../storage/grid.js';

/** Neighbouring ranges of one part, fetched with one request. */
export interface Run {
  first: number;
  count: number;
}

/** 8 MiB of the usual ranges: few requests, and no long way around a range that is wanted at once. */
const maxRangesPerRun = 8;

export class RunPlan {
  readonly #grid: RangeGrid;
  /** Of ranges: how many wait for it. */
  readonly #demands = new Map<number, number>();
  #order: readonly number[];
  #cursor = 0;

  constructor(grid: RangeGrid) {
    this.#grid = grid;
    this.#order = Array.from({ length: grid.count }, (_, range) => range);
  }

  /** Ranges of `extents` first, in their order, then all others in that of the file. */
  setOrder(extents: readonly RangeExtent[]): void {
    const order = new Set<number>();
    for (const extent of extents) {
      const { first, end } = this.#grid.rangesOf(extent);
      for (let range = first; range < Math.min(end, this.#grid.count); ++range) {
        order.add(range);
      }
    }
    for (let range = 0; range < this.#grid.count; ++range) {
      order.add(range);
    }
    this.#order = [...order];
    this.#cursor = 0;
  }

  demand(ranges: readonly number[]): void {
    ranges.forEach((range) => this.#demands.set(range, (this.#demands.get(range) ?? 0) + 1));
  }

  release(ranges: readonly number[]): void {
    for (const range of ranges) {
      const count = (this.#demands.get(range) ?? 1) - 1;
      if (count === 0) {
        this.#demands.delete(range);
      } else {
        this.#demands.set(range, count);
      }
    }
  }

  /** Ranges for which `isOpen` holds; those that nobody waits for only with `everything`. */
  next(isOpen: (range: number) => boolean, everything: boolean): Run | null {
    for (const range of this.#demands.keys()) {
      if (isOpen(range)) {
        return this.#extend(range, (next) => this.#demands.has(next) && isOpen(next));
      }
    }
    while (everything && this.#cursor < this.#order.length) {
      const range = this.#order[this.#cursor] ?? 0;
      if (isOpen(range)) {
        let at = this.#cursor;
        return this.#extend(range, (next) => this.#order[(at += 1)] === next && isOpen(next));
      }
      this.#cursor += 1;
    }
    return null;
  }

  /** What was given back (a request failed) is open again. */
  rewind(): void {
    this.#cursor = 0;
  }

  #extend(first: number, goesOn: (range: number) => boolean): Run {
    const { part } = this.#grid.extentOf(first);
    const { end } = this.#grid.rangesOfPart(part);
    let count = 1;
    while (count < maxRangesPerRun && first + count < end && goesOn(first + count)) {
      count += 1;
    }
    return { first, count };
  }
}

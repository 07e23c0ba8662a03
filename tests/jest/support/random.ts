// SPDX-License-Identifier: MIT
// Seeded random numbers for property tests (mulberry32: small, and good enough for examples).

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Whole, 0 … limit - 1. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  string(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join('');
  }
}

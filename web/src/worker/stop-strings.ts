// SPDX-License-Identifier: MIT
// Ends an answer at a stop string, wherever token borders fall, and shows text as early as that allows: only what
// could still become a stop string is held back. The outcome does not depend on how the text arrives in pieces.

export interface Shown {
  text: string;
  /** The stop string that is complete; it and what follows is not shown. */
  stop: string | null;
}

export class StopStrings {
  readonly #stops: readonly string[];
  #held = '';

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Not to be called again once it has returned a stop. */
  push(text: string): Shown {
    const seen = this.#held + text;
    const found = this.#firstComplete(seen);
    if (found !== null) {
      this.#held = '';
      return { text: seen.slice(0, found.start), stop: found.stop };
    }
    const held = this.#longestBeginning(seen);
    this.#held = seen.slice(seen.length - held);
    return { text: seen.slice(0, seen.length - held), stop: null };
  }

  /** What was held back, when no more text comes. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  /** The one that ends first, as if the text came letter by letter; of those that end together, the longest. */
  #firstComplete(seen: string): { start: number; stop: string } | null {
    let best: { start: number; stop: string } | null = null;
    for (const stop of this.#stops) {
      const start = seen.indexOf(stop);
      if (start < 0) {
        continue;
      }
      const [end, bestEnd] = [start + stop.length, best === null ? Infinity : best.start + best.stop.length];
      if (end < bestEnd || (best !== null && end === bestEnd && start < best.start)) {
        best = { start, stop };
      }
    }
    return best;
  }

  /** Length of the longest end of the text that begins a stop string. */
  #longestBeginning(seen: string): number {
    let longest = 0;
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, seen.length); length > longest; --length) {
        if (seen.endsWith(stop.slice(0, length))) {
          longest = length;
        }
      }
    }
    return longest;
  }
}

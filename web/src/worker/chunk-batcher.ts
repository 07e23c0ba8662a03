// SPDX-License-Identifier: MIT
// Merges tokens into chunks: at most one per display frame, and none while the page has given no credit. Computing
// never waits for a slow page; what waits is a few bytes of text.

import type { TokenLogprobs } from '../protocol/data.js';
import type { EngineMethods } from '../protocol/methods.js';

export type TokenChunk = EngineMethods['generate']['chunk'];

export interface ChunkSink {
  readonly credits: number;
  chunk(value: TokenChunk): Promise<void>;
}

const frameMs = 16;

export class ChunkBatcher {
  readonly #sink: ChunkSink;
  #waiting: TokenChunk = { text: '', tokens: [] };
  #lastSent = -Infinity;

  constructor(sink: ChunkSink) {
    this.#sink = sink;
  }

  add(token: number | null, text: string, logprobs: TokenLogprobs | null): void {
    this.#waiting.text += text;
    if (token !== null) {
      this.#waiting.tokens.push(token);
    }
    if (logprobs !== null) {
      (this.#waiting.logprobs ??= []).push(logprobs);
    }
    if (this.#sink.credits > 0 && performance.now() - this.#lastSent >= frameMs) {
      // There is a credit: this does not wait, and rejects only for a call that is cancelled anyway.
      this.flush().catch(() => undefined);
    }
  }

  /** Sends what waits, when the page has room. */
  async flush(): Promise<void> {
    const chunk = this.#waiting;
    if (chunk.text === '' && chunk.tokens.length === 0) {
      return;
    }
    this.#waiting = { text: '', tokens: [] };
    this.#lastSent = performance.now();
    await this.#sink.chunk(chunk);
  }
}

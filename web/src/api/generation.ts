// SPDX-License-Identifier: MIT
// One answer, seen from the page.

import { deferred } from '../async.js';
import { createError } from '../errors.js';
import type { Generation, GenerationChunk } from './types.js';

export class GenerationStream implements Generation {
  readonly #start: (stop: AbortSignal) => AsyncIterable<GenerationChunk>;
  readonly #text = deferred<string>();
  readonly #stop = new AbortController();
  #started = false;

  /** `start` begins the answer; it is called once. The signal asks for an early end. */
  constructor(start: (stop: AbortSignal) => AsyncIterable<GenerationChunk>) {
    this.#start = start;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<GenerationChunk, undefined> {
    if (this.#started) {
      throw createError('bad_argument', 'an answer can be iterated once');
    }
    this.#started = true;
    let text = '';
    try {
      for await (const chunk of this.#start(this.#stop.signal)) {
        text += chunk.text;
        yield chunk;
      }
      this.#text.resolve(text);
    } catch (error) {
      this.#text.reject(error);
      throw error;
    } finally {
      // Only has an effect when the loop was left early.
      this.#text.reject(new DOMException('the answer was not read to its end', 'AbortError'));
    }
  }

  async text(): Promise<string> {
    if (!this.#started) {
      try {
        for await (const chunk of this) {
          void chunk;
        }
      } catch {
        // Reported by the promise below.
      }
    }
    return this.#text.promise;
  }

  stop(): void {
    this.#stop.abort();
  }
}

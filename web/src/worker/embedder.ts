// SPDX-License-Identifier: MIT
// Texts in, vectors out: each text is run from an empty cache, and the hidden states of its tokens become one vector.

import { createError } from '../errors.js';
import type { Engine } from '../engine/module.js';
import type { PassProgress, Pooling } from '../protocol/data.js';
import type { PassRunner } from './pass-runner.js';

export interface EmbedRequest {
  /** Token ids of each text. */
  texts: readonly (readonly number[])[];
  pooling: Pooling;
  /** Scale to length 1. */
  normalize: boolean;
  signal: AbortSignal;
  /** Counts the tokens of all texts together. */
  onProgress(progress: PassProgress): void;
}

export class Embedder {
  readonly #engine: Engine;
  readonly #runner: PassRunner;

  constructor(engine: Engine, runner: PassRunner) {
    this.#engine = engine;
    this.#runner = runner;
  }

  async embed(
    request: EmbedRequest,
  ): Promise<{ vectors: Float32Array<ArrayBuffer>[]; promptTokens: number }> {
    const { texts, pooling, normalize } = request;
    const { contextLength } = this.#engine;
    for (const [index, text] of texts.entries()) {
      checkLength(text.length, index, contextLength);
    }
    const promptTokens = texts.reduce((sum, text) => sum + text.length, 0);
    const vectors: Float32Array<ArrayBuffer>[] = [];
    let done = 0;
    for (const text of texts) {
      // Attention looks back only: the first token's state needs no other token.
      const seen = pooling === 'cls' ? text.slice(0, 1) : text;
      const sum = await this.#pool(seen, request, { done, of: promptTokens });
      vectors.push(scaled(sum, normalize ? 1 / length(sum) : 1 / (pooling === 'mean' ? text.length : 1)));
      done += text.length;
    }
    return { vectors, promptTokens };
  }

  /** Sum of the states that count. Sums are in double precision, in the order of the tokens. */
  async #pool(
    text: readonly number[],
    { pooling, signal, onProgress }: EmbedRequest,
    prompt: { done: number; of: number },
  ): Promise<Float64Array> {
    this.#engine.truncate(0);
    const { blockCount, maxEntries } = this.#engine;
    let sum = new Float64Array();
    for (let at = 0; at < text.length; at += maxEntries) {
      const part = text.slice(at, at + maxEntries);
      const isLast = at + part.length === text.length;
      const report = (block: number, tokens: number): void =>
        onProgress({
          phase: 'prefill',
          block,
          blockCount,
          promptTokensDone: prompt.done + tokens,
          promptTokens: prompt.of,
        });
      await this.#runner.run(part, pooling === 'mean' ? 'all-hidden' : isLast ? 'last-hidden' : 'none', {
        signal,
        onBlock: (block) => report(block, at),
      });
      report(blockCount, at + part.length);
      const first = pooling === 'mean' ? 0 : isLast ? part.length - 1 : part.length;
      for (let entry = first; entry < part.length; entry += 1) {
        sum = added(sum, this.#engine.hidden(entry));
      }
    }
    return sum;
  }
}

function checkLength(tokens: number, index: number, contextLength: number): void {
  if (tokens === 0) {
    throw createError('bad_argument', `text ${index} has no tokens`, { details: { index } });
  }
  if (tokens > contextLength) {
    throw createError(
      'context_full',
      `text ${index} has ${tokens} tokens, the context holds ${contextLength}`,
      { details: { index, promptTokens: tokens, contextLength } },
    );
  }
}

function added(sum: Float64Array<ArrayBuffer>, row: Float32Array): Float64Array<ArrayBuffer> {
  return sum.length === 0 ? Float64Array.from(row) : sum.map((value, i) => value + (row[i] ?? 0));
}

/** Never 0, so that a vector of zeros stays one. */
function length(vector: Float64Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
}

function scaled(vector: Float64Array, factor: number): Float32Array<ArrayBuffer> {
  return Float32Array.from(vector, (value) => value * factor);
}

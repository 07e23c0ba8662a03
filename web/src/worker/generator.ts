// SPDX-License-Identifier: MIT
// Prompt in, tokens out: prefill in as few passes as the engine takes, then step by step. Keeps the ids that are in
// the cache, so that a prompt that begins like the last one (the next turn of a chat) only computes what is new;
// truncating the cache is exact, so the answer is the same bits as from a cold start.

import { createError } from '../errors.js';
import type { Engine } from '../engine/module.js';
import type { FinishReason, GenerationStats, PassProgress, SamplingSettings } from '../protocol/data.js';
import type { PassRunner } from './pass-runner.js';

export interface GeneratorRequest {
  tokens: readonly number[];
  sampling: SamplingSettings;
  /** null: until the model stops or the context is full. */
  maxTokens: number | null;
  signal: AbortSignal;
  onProgress(progress: PassProgress): void;
  /** Called for every token of the answer; the text may be '' in the middle of a character. */
  onToken(token: number | null, text: string): void;
}

export interface GeneratorResult {
  finishReason: FinishReason;
  stats: GenerationStats;
}

export class Generator {
  readonly #engine: Engine;
  readonly #runner: PassRunner;
  #cached: number[] = [];

  constructor(engine: Engine, runner: PassRunner) {
    this.#engine = engine;
    this.#runner = runner;
  }

  async generate(request: GeneratorRequest): Promise<GeneratorResult> {
    const { tokens, maxTokens } = request;
    this.#validate(tokens, maxTokens);
    this.#engine.setSampler(request.sampling);
    this.#engine.finishText(); // an answer that was aborted may have left half a character
    const bytesBefore = this.#engine.memory().bytesRead;
    const began = performance.now();
    const reusedTokens = await this.#prefill(request);
    const prefilled = performance.now();
    const { finishReason, completionTokens } = await this.#decode(request);
    return {
      finishReason,
      stats: {
        promptTokens: tokens.length,
        reusedTokens,
        completionTokens,
        prefillMs: prefilled - began,
        decodeMs: performance.now() - prefilled,
        bytesRead: this.#engine.memory().bytesRead - bytesBefore,
      },
    };
  }

  #validate(tokens: readonly number[], maxTokens: number | null): void {
    const contextLength = this.#engine.contextLength;
    if (tokens.length === 0) {
      throw createError('bad_argument', 'the prompt is empty');
    }
    if (maxTokens !== null && (!Number.isSafeInteger(maxTokens) || maxTokens < 0)) {
      throw createError('bad_argument', `maxTokens is ${maxTokens}`, { details: { maxTokens } });
    }
    if (tokens.length > contextLength) {
      throw createError(
        'context_full',
        `the prompt has ${tokens.length} tokens, the context holds ${contextLength}`,
        { details: { promptTokens: tokens.length, contextLength } },
      );
    }
  }

  /** Returns how many tokens did not have to be computed. */
  async #prefill(request: GeneratorRequest): Promise<number> {
    const { tokens } = request;
    // The last one is always computed: its logits are wanted.
    const reusable = this.#engine.truncate(Math.min(commonPrefix(this.#cached, tokens), tokens.length - 1));
    this.#cached.length = reusable;
    const chunk = Math.max(1, this.#engine.maxEntries);
    for (let done = reusable; done < tokens.length; done += chunk) {
      const part = tokens.slice(done, done + chunk);
      const isLast = done + part.length === tokens.length;
      await this.#pass(request, part, isLast, 'prefill', done);
    }
    return reusable;
  }

  async #decode(
    request: GeneratorRequest,
  ): Promise<{ finishReason: FinishReason; completionTokens: number }> {
    const { tokens, maxTokens } = request;
    let completionTokens = 0;
    let finishReason: FinishReason = 'length';
    while (maxTokens === null || completionTokens < maxTokens) {
      const token = this.#engine.sample();
      if (this.#engine.isEndOfGeneration(token)) {
        finishReason = 'stop';
        break;
      }
      completionTokens += 1;
      request.onToken(token, this.#engine.acceptToken(token));
      if (completionTokens === maxTokens) {
        break;
      }
      if (this.#engine.pastTokens >= this.#engine.contextLength) {
        finishReason = 'context';
        break;
      }
      await this.#pass(request, [token], true, 'decode', tokens.length);
    }
    const rest = this.#engine.finishText();
    if (rest !== '') {
      request.onToken(null, rest);
    }
    return { finishReason, completionTokens };
  }

  async #pass(
    request: GeneratorRequest,
    tokens: readonly number[],
    wantsLogits: boolean,
    phase: PassProgress['phase'],
    promptTokensDone: number,
  ): Promise<void> {
    const { signal, onProgress } = request;
    const promptTokens = request.tokens.length;
    const blockCount = this.#engine.blockCount;
    await this.#runner.run(tokens, wantsLogits ? 'last' : 'none', {
      signal,
      onBlock: (block) => onProgress({ phase, block, blockCount, promptTokensDone, promptTokens }),
    });
    this.#cached.push(...tokens);
    if (phase === 'prefill') {
      const done = promptTokensDone + tokens.length;
      onProgress({ phase, block: blockCount, blockCount, promptTokensDone: done, promptTokens });
    }
  }
}

function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) {
    length += 1;
  }
  return length;
}

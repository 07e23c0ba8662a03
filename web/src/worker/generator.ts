// SPDX-License-Identifier: MIT
// Prompt in, tokens out: prefill in as few passes as the engine takes, then step by step. Keeps the ids that are in
// the cache, so that a prompt that begins like the last one (the next turn of a chat) only computes what is new;
// truncating the cache is exact, so the answer is the same bits as from a cold start.

import { createError } from '../errors.js';
import type { Engine } from '../engine/module.js';
import type {
  CacheState,
  FinishReason,
  GenerationOutcome,
  GenerationRules,
  PassProgress,
  SamplingSettings,
  TokenLogprobs,
} from '../protocol/data.js';
import { makeRoom } from './context-shift.js';
import type { PassRunner } from './pass-runner.js';
import { StopStrings } from './stop-strings.js';

export interface GeneratorRequest {
  tokens: readonly number[];
  sampling: SamplingSettings;
  rules: GenerationRules;
  /** The answer is not wanted any more: rejects with the signal's reason. */
  signal: AbortSignal;
  /** The answer shall end where it is: finish reason `abort`. */
  stop: AbortSignal;
  onProgress(progress: PassProgress): void;
  /** Called for every token of the answer; the text may be '' in the middle of a character or of a stop string. */
  onToken(token: number | null, text: string, logprobs: TokenLogprobs | null): void;
}

/** One answer in the making. */
interface Answer extends GeneratorRequest {
  /** Either signal. */
  readonly ended: AbortSignal;
  readonly stops: StopStrings;
  /** Everything the next token depends on: prompt and answer, less what was shifted out. */
  text: number[];
  completionTokens: number;
  shiftedTokens: number;
}

interface Ending {
  finishReason: FinishReason;
  stopReason: string | number | null;
}

export class Generator {
  readonly #engine: Engine;
  readonly #runner: PassRunner;
  #cached: number[] = [];

  constructor(engine: Engine, runner: PassRunner) {
    this.#engine = engine;
    this.#runner = runner;
  }

  /** Something else has used the cache. */
  forget(): void {
    this.#cached = [];
  }

  /** The cache of another engine, which goes on here. */
  importCache(cache: CacheState): void {
    this.#engine.importCache(cache);
    this.#cached = [...cache.tokens];
  }

  async generate(request: GeneratorRequest): Promise<GenerationOutcome> {
    checkRequest(request, this.#engine.contextLength);
    this.#engine.setSampler(request.sampling);
    this.#engine.finishText(); // an answer that was aborted may have left half a character
    const answer: Answer = {
      ...request,
      ended: AbortSignal.any([request.signal, request.stop]),
      stops: new StopStrings(request.rules.stop),
      text: makeRoom(request.tokens, this.#engine.contextLength + 1, request.rules.keepTokens),
      completionTokens: 0,
      shiftedTokens: 0,
    };
    answer.shiftedTokens = request.tokens.length - answer.text.length;
    const bytesBefore = this.#engine.memory().bytesRead;
    const began = performance.now();
    let prefilled: number | null = null;
    let reusedTokens = 0;
    const ending = await this.#orStopped(answer, async () => {
      reusedTokens = await this.#prefill(answer);
      prefilled = performance.now();
      return this.#decode(answer);
    });
    this.#finishText(answer, ending);
    const ended = performance.now();
    return {
      ...ending,
      stats: {
        promptTokens: request.tokens.length,
        reusedTokens,
        completionTokens: answer.completionTokens,
        shiftedTokens: answer.shiftedTokens,
        prefillMs: (prefilled ?? ended) - began,
        decodeMs: ended - (prefilled ?? ended),
        bytesRead: this.#engine.memory().bytesRead - bytesBefore,
      },
    };
  }

  async #orStopped(answer: Answer, run: () => Promise<Ending>): Promise<Ending> {
    try {
      return await run();
    } catch (error) {
      if (answer.stop.aborted && !answer.signal.aborted && error === answer.stop.reason) {
        return { finishReason: 'abort', stopReason: null };
      }
      throw error;
    }
  }

  /** Brings the cache to `answer.text` with logits of its last token; returns how many tokens were there already. */
  async #prefill(answer: Answer): Promise<number> {
    const tokens = answer.text;
    // The last one is always computed: its logits are wanted. A pass that was cancelled may have cost a windowed layer what
    // came before it.
    const reusable = this.#engine.truncate(
      Math.min(commonPrefix(this.#cached, tokens), tokens.length - 1, this.#engine.pastTokens),
    );
    this.#cached.length = reusable;
    const chunk = Math.max(1, this.#engine.maxEntries);
    for (let done = reusable; done < tokens.length; done += chunk) {
      const part = tokens.slice(done, done + chunk);
      const isLast = done + part.length === tokens.length;
      await this.#pass(answer, part, isLast, { phase: 'prefill', done, of: tokens.length });
    }
    return reusable;
  }

  async #decode(answer: Answer): Promise<Ending> {
    const { maxTokens, stopTokens, ignoreEos, overflow, logprobs } = answer.rules;
    const promptTokens = answer.text.length;
    while (maxTokens === null || answer.completionTokens < maxTokens) {
      answer.ended.throwIfAborted();
      const token = this.#engine.sample();
      if (stopTokens.includes(token)) {
        return { finishReason: 'stop', stopReason: token };
      }
      if (!ignoreEos && this.#engine.isEndOfGeneration(token)) {
        return { finishReason: 'stop', stopReason: null };
      }
      answer.completionTokens += 1;
      answer.text.push(token);
      const shown = answer.stops.push(this.#engine.acceptToken(token));
      answer.onToken(token, shown.text, logprobs === null ? null : this.#engine.logprobs(logprobs));
      if (shown.stop !== null) {
        return { finishReason: 'stop', stopReason: shown.stop };
      }
      if (answer.completionTokens === maxTokens) {
        break;
      }
      if (this.#engine.pastTokens < this.#engine.contextLength) {
        await this.#pass(answer, [token], true, { phase: 'decode', done: promptTokens, of: promptTokens });
      } else if (overflow === 'shift') {
        await this.#shift(answer);
      } else {
        return { finishReason: 'context', stopReason: null };
      }
    }
    return { finishReason: 'length', stopReason: null };
  }

  /** The remaining tokens get new positions, so they are computed anew: a turned cache would not be exact. */
  async #shift(answer: Answer): Promise<void> {
    const before = answer.text.length;
    answer.text = makeRoom(answer.text, this.#engine.contextLength, answer.rules.keepTokens);
    answer.shiftedTokens += before - answer.text.length;
    await this.#prefill(answer);
  }

  /** Bytes of a character that never became whole, and what might have become a stop string. */
  #finishText(answer: Answer, { stopReason }: Ending): void {
    const rest = this.#engine.finishText();
    if (typeof stopReason === 'string') {
      return;
    }
    const { text, stop } = answer.stops.push(rest);
    const shown = stop === null ? text + answer.stops.flush() : text;
    if (shown !== '') {
      answer.onToken(null, shown, null);
    }
  }

  async #pass(
    answer: Answer,
    tokens: readonly number[],
    wantsLogits: boolean,
    prompt: { phase: PassProgress['phase']; done: number; of: number },
  ): Promise<void> {
    const { phase, done: promptTokensDone, of: promptTokens } = prompt;
    const blockCount = this.#engine.blockCount;
    await this.#runner.run(tokens, wantsLogits ? 'last' : 'none', {
      signal: answer.ended,
      onBlock: (block) => answer.onProgress({ phase, block, blockCount, promptTokensDone, promptTokens }),
    });
    this.#cached.push(...tokens);
    if (phase === 'prefill') {
      const done = promptTokensDone + tokens.length;
      answer.onProgress({ phase, block: blockCount, blockCount, promptTokensDone: done, promptTokens });
    }
  }
}

function checkRequest({ tokens, rules }: GeneratorRequest, contextLength: number): void {
  if (tokens.length === 0) {
    throw createError('bad_argument', 'the prompt is empty');
  }
  if (tokens.length > contextLength && rules.overflow !== 'shift') {
    throw createError(
      'context_full',
      `the prompt has ${tokens.length} tokens, the context holds ${contextLength}`,
      { details: { promptTokens: tokens.length, contextLength } },
    );
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

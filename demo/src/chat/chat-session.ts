// SPDX-License-Identifier: MIT
// The conversation with the open model: asks, appends what it says, stops when told to, asks again from any turn.

import type { ChatMessage, GenerationChunk, Model } from 'layerstream';
import { problemOf } from '../ui/errors.js';
import { rate } from '../ui/format.js';
import { generateOptions } from '../settings/settings.js';
import { isAnswering } from '../state.js';
import type { Store } from '../state.js';
import { history, isRunning, makeTurn } from './turns.js';
import type { Turn } from './turns.js';

export class ChatSession {
  readonly #store: Store;
  readonly #getModel: () => Model | null;
  /** Called after each answer with the code of what failed, or null. */
  readonly #onEnd: (code: string | null) => void;
  #abort: AbortController | null = null;
  /** Answers run one after the other: a stopped one may still be winding down when the next is asked for. */
  #running: Promise<void> = Promise.resolve();

  constructor(store: Store, getModel: () => Model | null, onEnd: (code: string | null) => void) {
    this.#store = store;
    this.#getModel = getModel;
    this.#onEnd = onEnd;
  }

  ask(text: string): Promise<void> {
    return this.#askAfter(this.#store.get().turns, text);
  }

  stop(): void {
    this.#abort?.abort();
  }

  /** Asks for the answer to the message before `answerId` once more; what came after it goes. */
  regenerate(answerId: number): Promise<void> {
    const { turns } = this.#store.get();
    const at = turns.findIndex((turn) => turn.id === answerId);
    const question = turns[at - 1];
    return question ? this.#askAfter(turns.slice(0, at - 1), question.text) : Promise.resolve();
  }

  /** Replaces a message and asks it; what came after it goes. The engine computes anew from the edit on only. */
  edit(questionId: number, text: string): Promise<void> {
    const { turns } = this.#store.get();
    const at = turns.findIndex((turn) => turn.id === questionId);
    return at < 0 ? Promise.resolve() : this.#askAfter(turns.slice(0, at), text);
  }

  async #askAfter(before: readonly Turn[], text: string): Promise<void> {
    const prompt = text.trim();
    const model = this.#getModel();
    if (prompt === '' || !model || isAnswering(this.#store.get())) return;
    const { systemPrompt } = this.#store.get().conversation;
    const messages = [...history(before, systemPrompt), { role: 'user', content: prompt }];
    const question = makeTurn('user', prompt, 'done');
    const answer = makeTurn('assistant', '', 'reading');
    const abort = new AbortController();
    this.#abort = abort;
    this.#store.update({
      turns: [...before, question, answer],
      banner: null,
      prefillRate: null,
      decodeRate: null,
    });
    this.#running = this.#running.then(() => this.#answer(model, messages, answer.id, abort));
    await this.#running;
  }

  async #answer(model: Model, messages: ChatMessage[], id: number, abort: AbortController): Promise<void> {
    let failure: string | null = null;
    try {
      await this.#receive(model, messages, id, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) {
        this.#store.updateTurn(id, { status: 'done', finish: 'abort' });
      } else {
        const problem = problemOf(error);
        failure = problem.code;
        this.#store.updateTurn(id, { status: 'failed', problem });
      }
    }
    if (this.#abort === abort) this.#abort = null;
    this.#store.update({ pass: null });
    this.#onEnd(failure);
  }

  async #receive(model: Model, messages: ChatMessage[], id: number, signal: AbortSignal): Promise<void> {
    let text = '';
    let tokens = 0;
    let firstAt = 0;
    let promptTokens = 0;
    const startedAt = performance.now();
    const options = generateOptions(this.#store.get().settings);
    options.signal = signal;
    options.onProgress = (pass) => {
      promptTokens = pass.promptTokens;
      if (!signal.aborted) this.#store.update({ pass });
    };
    for await (const chunk of model.chat(messages, options)) {
      const now = performance.now();
      if (firstAt === 0) {
        firstAt = now;
        // Close enough while the answer runs; the exact figure comes with its last chunk.
        this.#store.update({ prefillRate: rate(promptTokens, now - startedAt) });
      } else {
        tokens += chunk.tokens.length;
      }
      text += chunk.text;
      this.#store.update({ tokensWritten: this.#store.get().tokensWritten + chunk.tokens.length });
      this.#store.updateTurn(id, { text, status: 'writing' });
      if (chunk.finishReason === undefined) this.#store.update({ decodeRate: rate(tokens, now - firstAt) });
      else this.#finish(id, chunk);
    }
    // An iteration that ends without a last chunk was cancelled.
    if (isRunning(this.#turn(id))) this.#store.updateTurn(id, { status: 'done', finish: 'abort' });
  }

  #turn(id: number): Turn | undefined {
    return this.#store.get().turns.find((turn) => turn.id === id);
  }

  #finish(id: number, chunk: GenerationChunk): void {
    const { stats, finishReason } = chunk;
    const change: Partial<Turn> = { status: 'done' };
    if (finishReason !== undefined) change.finish = finishReason;
    if (stats && this.#turn(id)) {
      change.stats = stats;
      this.#store.update({
        prefillRate: rate(stats.promptTokens - stats.reusedTokens, stats.prefillMs),
        decodeRate: rate(stats.completionTokens, stats.decodeMs),
      });
    }
    this.#store.updateTurn(id, change);
  }
}

// SPDX-License-Identifier: MIT
// The conversation: asks the open model, appends what it says, stops when told to. Turns come in pairs (a message and
// its answer); a pair whose answer failed or is empty is shown but not sent to the model again.

import type { ChatMessage, GenerateOptions, GenerationChunk, Model } from 'layerstream';
import { problemOf } from './errors.js';
import { rate } from './format.js';
import { isAnswering } from './state.js';
import type { Settings, Store, Turn } from './state.js';

export class ChatSession {
  readonly #store: Store;
  readonly #getModel: () => Model | null;
  /** Called after each answer with the code of what failed, or null. */
  readonly #onEnd: (code: string | null) => void;
  #abort: AbortController | null = null;
  /** Answers run one after the other: a stopped one may still be winding down when the next is asked for. */
  #running: Promise<void> = Promise.resolve();
  #nextId = 1;

  constructor(store: Store, getModel: () => Model | null, onEnd: (code: string | null) => void) {
    this.#store = store;
    this.#getModel = getModel;
    this.#onEnd = onEnd;
  }

  async ask(text: string): Promise<void> {
    const prompt = text.trim();
    const model = this.#getModel();
    if (prompt === '' || !model || isAnswering(this.#store.get())) return;
    const { turns, settings } = this.#store.get();
    const messages = [...history(turns, settings), { role: 'user', content: prompt }];
    const answer: Turn = { id: this.#nextId++, role: 'assistant', text: '', status: 'reading' };
    const question: Turn = { id: this.#nextId++, role: 'user', text: prompt, status: 'done' };
    const abort = new AbortController();
    this.#abort = abort;
    this.#store.update({
      turns: [...turns, question, answer],
      banner: null,
      prefillRate: null,
      decodeRate: null,
    });

    this.#running = this.#running.then(() => this.#answer(model, messages, answer.id, abort));
    await this.#running;
  }

  stop(): void {
    this.#abort?.abort();
  }

  newChat(): void {
    this.stop();
    this.#store.update({ turns: [], banner: null, contextUsed: 0 });
  }

  /** Asks the last message again, dropping the answer it got. */
  askAgain(): Promise<void> {
    const { turns } = this.#store.get();
    const question = turns.at(-2);
    if (!question || isAnswering(this.#store.get())) return Promise.resolve();
    this.#store.update({ turns: turns.slice(0, -2) });
    return this.ask(question.text);
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
    const options = generateOptions(this.#store.get().settings, signal);
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
      this.#store.updateTurn(id, { text, status: 'writing' });
      if (chunk.finishReason === undefined) this.#store.update({ decodeRate: rate(tokens, now - firstAt) });
      else this.#finish(id, chunk);
    }
    // An iteration that ends without a last chunk was cancelled.
    const turn = this.#store.get().turns.find((candidate) => candidate.id === id);
    if (turn?.status === 'writing' || turn?.status === 'reading') {
      this.#store.updateTurn(id, { status: 'done', finish: 'abort' });
    }
  }

  #finish(id: number, chunk: GenerationChunk): void {
    const { stats, finishReason } = chunk;
    const change: Partial<Turn> = { status: 'done' };
    if (finishReason !== undefined) change.finish = finishReason;
    const isShown = this.#store.get().turns.some((turn) => turn.id === id);
    if (stats && isShown) {
      change.stats = stats;
      this.#store.update({
        prefillRate: rate(stats.promptTokens, stats.prefillMs),
        decodeRate: rate(stats.completionTokens, stats.decodeMs),
        contextUsed: stats.promptTokens + stats.completionTokens,
      });
    }
    this.#store.updateTurn(id, change);
  }
}

function history(turns: readonly Turn[], settings: Settings): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const system = settings.systemPrompt.trim();
  if (system !== '') messages.push({ role: 'system', content: system });
  for (let i = 0; i + 1 < turns.length; i += 2) {
    const question = turns[i];
    const answer = turns[i + 1];
    if (!question || !answer || answer.status !== 'done' || answer.text.trim() === '') continue;
    messages.push({ role: 'user', content: question.text }, { role: 'assistant', content: answer.text });
  }
  return messages;
}

function generateOptions(settings: Settings, signal: AbortSignal): GenerateOptions {
  const { temperature, topK, topP, minP, seed, maxTokens } = settings;
  return temperature === 0
    ? { temperature, maxTokens, signal }
    : { temperature, topK, topP, minP, seed, maxTokens, signal };
}

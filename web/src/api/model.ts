// SPDX-License-Identifier: MIT
// A loaded model: one engine worker, one reference to the weights in the storage worker.

import { SerialQueue } from '../async.js';
import { createError } from '../errors.js';
import { loaded } from '../lazy.js';
import type { Pooling, Prompt } from '../protocol/data.js';
import type { EngineMethods } from '../protocol/methods.js';
import { GenerationStream } from './generation.js';
import { budgetBytesOf } from './budget.js';
import { rulesOf } from './generation-rules.js';
import type { Connection } from './host.js';
import { samplingSettings } from './sampling.js';
import type {
  ChatMessage,
  ChatOptions,
  CompleteOptions,
  EmbedOptions,
  EmbedResult,
  GenerateOptions,
  Generation,
  GenerationChunk,
  MemoryReport,
  Model,
  ModelInfo,
} from './types.js';

function idsOf(prompt: readonly number[]): readonly number[] {
  const wrong = prompt.find((id) => !Number.isSafeInteger(id) || id < 0 || id > 0x7fffffff);
  if (wrong !== undefined) {
    throw createError('bad_argument', `${wrong} is not a token id`, { details: { id: wrong } });
  }
  return [...prompt];
}

/** Nothing of a text becomes a control token unless the caller says so. */
function promptOf(prompt: string | readonly number[], parseSpecial: boolean): Prompt {
  return typeof prompt === 'string'
    ? { text: prompt, addSpecial: true, parseSpecial, untrusted: [] }
    : { ids: idsOf(prompt) };
}

function checkPooling(pooling: Pooling): void {
  if (!['mean', 'last', 'cls'].includes(pooling)) {
    throw createError('bad_argument', `pooling is ${String(pooling)}, expected 'mean', 'last' or 'cls'`);
  }
}

function whenAborted(signal: AbortSignal, react: () => void): void {
  if (signal.aborted) {
    react();
  } else {
    signal.addEventListener('abort', react, { once: true });
  }
}

export interface OpenedEngine {
  engine: Connection<EngineMethods>;
  opened: EngineMethods['open']['result'];
}

export interface ModelContext {
  /** Settles when all weights are stored, or cannot be. */
  readonly stored: Promise<void>;
  /** Lets go of the weights; called once, also when the engine dies. */
  giveBack(): Promise<void>;
  /** Another engine for the same weights. */
  reopen(budgetBytes: number): Promise<OpenedEngine>;
  /** That of loadModel. */
  chatTemplate?: string;
}

export class LoadedModel implements Model {
  #info: ModelInfo;
  #engine: Connection<EngineMethods>;
  readonly #context: ModelContext;
  /** Changes of the budget; answers wait for those under way. */
  readonly #budgets = new SerialQueue();
  /** Prompts are made one after another, so that answers queue in the order they were asked for. */
  readonly #prompts = new SerialQueue();
  #released: Promise<void> | null = null;
  #nextRequest = 1;
  /** That have begun and not ended. */
  #answers = 0;

  constructor(info: ModelInfo, engine: Connection<EngineMethods>, context: ModelContext) {
    this.#info = info;
    this.#engine = engine;
    this.#context = context;
    this.#releaseWithEngine();
  }

  get info(): ModelInfo {
    return this.#info;
  }

  get stored(): Promise<void> {
    return this.#context.stored;
  }

  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): Generation {
    return this.#generation(() => this.#renderPrompt(messages, options), options);
  }

  complete(prompt: string | readonly number[], options: CompleteOptions = {}): Generation {
    const whole = promptOf(prompt, options.parseSpecial ?? false);
    return this.#generation(() => Promise.resolve(whole), options);
  }

  async embed(
    texts: string | readonly (string | readonly number[])[],
    options: EmbedOptions = {},
  ): Promise<EmbedResult> {
    const { pooling = 'mean', normalize = true, signal, onProgress } = options;
    checkPooling(pooling);
    const inputs = (typeof texts === 'string' ? [texts] : texts).map((text) => promptOf(text, false));
    const call = { inputs, pooling, normalize };
    const { vectors, promptTokens } = await this.#engine.client.call('embed', call, { signal, onProgress });
    return { embeddings: vectors, usage: { promptTokens } };
  }

  async tokenize(
    text: string,
    options: { addSpecial?: boolean; parseSpecial?: boolean } = {},
  ): Promise<number[]> {
    const { addSpecial = false, parseSpecial = false } = options;
    return (await this.#engine.client.call('tokenize', { text, addSpecial, parseSpecial })).tokens;
  }

  async countTokens(
    text: string,
    options: { addSpecial?: boolean; parseSpecial?: boolean } = {},
  ): Promise<number> {
    return (await this.tokenize(text, options)).length;
  }

  async detokenize(tokens: readonly number[], options: { withControl?: boolean } = {}): Promise<string> {
    const { withControl = false } = options;
    return (await this.#engine.client.call('detokenize', { tokens, withControl })).text;
  }

  memory(): Promise<MemoryReport> {
    return this.#engine.client.call('memory', {});
  }

  setBudget(memoryBudget: number | 'min'): Promise<MemoryReport> {
    return this.#budgets.run(async () => {
      const budgetBytes = budgetBytesOf(memoryBudget);
      const { plannedBytes } = await this.memory();
      if (budgetBytes === -1 || budgetBytes >= plannedBytes) {
        this.#describe((await this.#engine.client.call('raiseBudget', { budgetBytes })).details);
      } else {
        await this.#moveTo(budgetBytes);
      }
      return this.memory();
    });
  }

  dispose(): Promise<void> {
    this.#engine.close(createError('disposed', 'the model was disposed'));
    return this.#release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #release(): Promise<void> {
    this.#released ??= this.#context.giveBack();
    return this.#released;
  }

  #releaseWithEngine(): void {
    const engine = this.#engine;
    engine.onCrash(() => void (engine === this.#engine ? this.#release() : null));
  }

  /** Starts an engine with a smaller plan, which goes on where this one is. */
  async #moveTo(budgetBytes: number): Promise<void> {
    if (this.#answers > 0) {
      throw createError(
        'busy',
        `${this.info.name} is answering: its budget can be lowered when that is done`,
      );
    }
    const before = this.#engine;
    const { engine, opened } = await this.#context.reopen(budgetBytes);
    try {
      const { cache } = await before.client.call('exportCache', {});
      await engine.client.call('importCache', { cache });
    } catch (error) {
      engine.close(createError('disposed', 'the conversation could not be moved'));
      throw error;
    }
    this.#engine = engine;
    this.#releaseWithEngine();
    this.#describe(opened.details);
    before.close(createError('disposed', 'the model moved to another engine'));
  }

  #describe(details: unknown): void {
    this.#info = { ...this.#info, details };
  }

  async #renderPrompt(messages: readonly ChatMessage[], options: ChatOptions): Promise<Prompt> {
    const { chatPrompt } = await loaded(import('./chat-prompt.js'));
    return chatPrompt(this, messages, options, this.#context.chatTemplate);
  }

  #generation(makePrompt: () => Promise<Prompt>, options: GenerateOptions): Generation {
    return new GenerationStream((stop) => this.#generate(makePrompt, options, stop));
  }

  async *#generate(
    makePrompt: () => Promise<Prompt>,
    options: GenerateOptions,
    stop: AbortSignal,
  ): AsyncGenerator<GenerationChunk, undefined> {
    const { signal, onProgress, whenBusy = 'wait' } = options;
    signal?.throwIfAborted();
    const [sampling, rules] = [samplingSettings(options), rulesOf(options)];
    if (whenBusy === 'reject' && this.#answers > 0) {
      throw createError('busy', `${this.info.name} is answering another request`);
    }
    this.#answers += 1;
    try {
      await this.#budgets.idle();
      const prompt = await this.#prompts.run(makePrompt, signal);
      const requestId = this.#nextRequest++;
      const call = { requestId, prompt, sampling, rules };
      const stream = this.#engine.client.stream('generate', call, { signal, onProgress });
      whenAborted(stop, () => void this.#engine.client.call('stop', { requestId }).catch(() => undefined));
      yield* stream;
      yield { text: '', tokens: [], ...(await stream.result) };
    } finally {
      this.#answers -= 1;
    }
  }
}

// SPDX-License-Identifier: MIT
// What the engine worker does, without its `self`, so that tests run it in node: one model, whose answers are
// computed one after another in the order they were asked for.

import { deferred, SerialQueue } from '../async.js';
import { createError } from '../errors.js';
import { loaded } from '../lazy.js';
import type { Engine } from '../engine/module.js';
import type { ModuleChoice } from '../engine/load-module.js';
import type { LayerstreamModule } from '../engine/module-types.js';
import { Client } from '../protocol/client.js';
import type { GenerationOutcome, PassProgress } from '../protocol/data.js';
import type { CallContext, Handlers } from '../protocol/dispatcher.js';
import type { EngineMethods, ReadMethods } from '../protocol/methods.js';
import { ChunkBatcher } from './chunk-batcher.js';
import { EventLoop } from './event-loop.js';
import { Generator } from './generator.js';
import { openEngine } from './open-engine.js';
import { PassRunner } from './pass-runner.js';
import { PromptTokenizer } from './prompt-tokens.js';
import type { RingReads } from './ring-reads.js';
import { RemoteWeightSource } from './weight-source.js';

export interface EngineServiceOptions {
  loadModule(choice: ModuleChoice): Promise<LayerstreamModule>;
  holdLock(name: string): Promise<boolean>;
}

interface OpenModel {
  readonly engine: Engine;
  readonly runner: PassRunner;
  readonly generator: Generator;
  readonly prompts: PromptTokenizer;
  readonly source: RemoteWeightSource;
  readonly reads: Client<ReadMethods>;
  readonly loop: EventLoop;
  readonly port: MessagePort;
}

type Generate = EngineMethods['generate'];
type Embed = EngineMethods['embed'];

const progressIntervalMs = 30;

const moreCode = (): Promise<typeof import('./engine-extras.js')> => loaded(import('./engine-extras.js'));

export class EngineService {
  readonly handlers: Handlers<EngineMethods>;
  readonly #options: EngineServiceOptions;
  readonly #queue = new SerialQueue();
  readonly #closing = new AbortController();
  /** Of answers that have not ended, by request id. */
  readonly #stops = new Map<number, AbortController>();
  #model: OpenModel | null = null;
  /** Started ahead, for the next open or plan. */
  #prepared: Promise<LayerstreamModule> | null = null;

  constructor(options: EngineServiceOptions) {
    this.#options = options;
    this.handlers = {
      watch: async ({ lockName }) => ({ held: await options.holdLock(lockName) }),
      prepare: async (choice) => {
        this.#prepared = options.loadModule(choice);
        await this.#prepared;
        return null;
      },
      open: (params, context) => this.#queue.run(() => this.#open(params, context), context.signal),
      plan: (params, context) => this.#queue.run(() => this.#plan(params, context), context.signal),
      raiseBudget: async ({ budgetBytes }) => {
        const { engine, runner } = this.#opened();
        await runner.betweenPasses(() => engine.raiseBudget(budgetBytes));
        return { details: engine.describe() };
      },
      exportCache: async () => {
        const { engine, runner } = this.#opened();
        return { cache: await runner.betweenPasses(() => engine.exportCache()) };
      },
      importCache: async ({ cache }) => {
        this.#opened().generator.importCache(cache);
        return null;
      },
      generate: (params, context) => this.#generate(params, context),
      stop: async ({ requestId }) => {
        this.#stops.get(requestId)?.abort();
        return null;
      },
      embed: (params, context) => this.#embed(params, context),
      tokenize: async ({ text, ...options }) => ({ tokens: this.#opened().engine.tokenize(text, options) }),
      detokenize: async ({ tokens, withControl }) => ({
        text: this.#opened().engine.detokenize(tokens, withControl),
      }),
      memory: async () => this.#opened().engine.memory(),
      dispose: async () => {
        await this.dispose();
        return null;
      },
    };
  }

  /** Cancels what runs, waits for reads in flight, frees the engine. */
  async dispose(): Promise<void> {
    this.#closing.abort(createError('disposed', 'the model was disposed'));
    await this.#queue.idle();
    const model = this.#model;
    this.#model = null;
    if (model !== null) {
      await model.runner.abandon();
      closeModel(model);
    }
  }

  #opened(): OpenModel {
    if (this.#model === null) {
      throw createError('disposed', 'no model is open in this worker');
    }
    return this.#model;
  }

  #module(choice: ModuleChoice): Promise<LayerstreamModule> {
    const prepared = this.#prepared ?? this.#options.loadModule(choice);
    this.#prepared = null;
    return prepared;
  }

  async #open(
    { storagePort, modelId, isWhole, partBytes, settings }: EngineMethods['open']['params'],
    context: CallContext<EngineMethods['open']>,
  ): Promise<EngineMethods['open']['result']> {
    if (this.#model !== null) {
      throw createError('bad_argument', 'a model is already open in this worker');
    }
    const module = await this.#module(settings);
    const reads = new Client<ReadMethods>(storagePort);
    try {
      const source = new RemoteWeightSource(reads, modelId);
      const totalBytes = partBytes.reduce((sum, bytes) => sum + bytes, 0);
      const engine = await openEngine(module, source, {
        partBytes,
        settings,
        signal: context.signal,
        onHeader: (loadedBytes) => context.progress({ phase: 'open', loadedBytes, totalBytes }),
      });
      const memory = engine.sharedMemory;
      let ring: RingReads | null = null;
      // Both only help: without them it goes on.
      if (!isWhole) {
        await moreCode()
          .then(({ readOrder }) => source.setOrder(readOrder(engine.describe(true))))
          .catch(() => undefined);
      } else if (memory !== null && engine.memory().slotBytes > 0) {
        ring = await moreCode()
          .then(({ RingReads }) => new RingReads(reads, modelId))
          .catch(() => null);
      }
      if (memory !== null) {
        await source.share(memory, ring?.memory);
      }
      const loop = new EventLoop();
      const runner = new PassRunner(engine, source, loop, ring);
      const generator = new Generator(engine, runner);
      const prompts = new PromptTokenizer(engine);
      this.#model = { engine, runner, generator, prompts, source, reads, loop, port: storagePort };
      return {
        details: engine.describe(),
        contextLength: engine.contextLength,
        vocabSize: engine.vocabSize,
        blockCount: engine.blockCount,
      };
    } catch (error) {
      if (this.#model !== null) {
        closeModel(this.#model);
        this.#model = null;
      }
      reads.close(createError('disposed', 'the model could not be opened'));
      storagePort.close();
      throw error;
    }
  }

  async #plan(
    { storagePort, modelId, ...request }: EngineMethods['plan']['params'],
    { signal }: CallContext<EngineMethods['plan']>,
  ): Promise<EngineMethods['plan']['result']> {
    const module = await this.#module(request.settings);
    const reads = new Client<ReadMethods>(storagePort);
    try {
      const source = new RemoteWeightSource(reads, modelId);
      const { planFromHeaders } = await moreCode();
      return await planFromHeaders(module, source, { ...request, signal });
    } finally {
      reads.close(createError('disposed', 'the plan is made'));
      storagePort.close();
    }
  }

  async #generate(
    { requestId, prompt, sampling, rules }: Generate['params'],
    context: CallContext<Generate>,
  ): Promise<GenerationOutcome> {
    const batcher = new ChunkBatcher(context);
    const signal = AbortSignal.any([context.signal, this.#closing.signal]);
    const stop = new AbortController();
    this.#stops.set(requestId, stop);
    try {
      const result = await this.#inTurn(signal, stop.signal, () => {
        const { generator, prompts } = this.#opened();
        return generator.generate({
          tokens: prompts.tokenize(prompt),
          sampling,
          rules,
          signal,
          stop: stop.signal,
          onProgress: throttled((progress) => context.progress(progress)),
          onToken: (token, text, logprobs) => batcher.add(token, text, logprobs),
        });
      });
      // The next request computes while this one's last chunk waits for the page.
      await batcher.flush();
      return result;
    } finally {
      this.#stops.delete(requestId);
    }
  }

  async #embed(
    { inputs, pooling, normalize }: Embed['params'],
    context: CallContext<Embed>,
  ): Promise<Embed['result']> {
    const signal = AbortSignal.any([context.signal, this.#closing.signal]);
    const { Embedder } = await moreCode();
    const result = await this.#queue.run(() => {
      const { engine, runner, generator, prompts } = this.#opened();
      generator.forget();
      return new Embedder(engine, runner).embed({
        texts: inputs.map((input) => prompts.tokenize(input)),
        pooling,
        normalize,
        signal,
        onProgress: throttled((progress) => context.progress(progress)),
      });
    }, signal);
    context.transfer(...result.vectors.map((vector) => vector.buffer));
    return result;
  }

  /** An answer that is stopped while it waits ends at once, without its turn. */
  #inTurn(
    signal: AbortSignal,
    stop: AbortSignal,
    generate: () => Promise<GenerationOutcome>,
  ): Promise<GenerationOutcome> {
    const stopped = deferred<GenerationOutcome>();
    const leave = (): void => stopped.resolve(nothingGenerated());
    stop.addEventListener('abort', leave, { once: true });
    const turn = this.#queue.run(async () => {
      stop.removeEventListener('abort', leave);
      return stop.aborted ? nothingGenerated() : generate();
    }, signal);
    return Promise.race([turn, stopped.promise]);
  }
}

function nothingGenerated(): GenerationOutcome {
  const stats = {
    promptTokens: 0,
    reusedTokens: 0,
    completionTokens: 0,
    shiftedTokens: 0,
    prefillMs: 0,
    decodeMs: 0,
    bytesRead: 0,
  };
  return { finishReason: 'abort', stopReason: null, stats };
}

function closeModel({ engine, source, reads, loop, port }: OpenModel): void {
  engine.dispose();
  loop.close();
  source.unshare();
  reads.close(createError('disposed', 'the model was disposed'));
  port.close();
}

/** Finished passes of a prompt are always reported; the rest at most every 30 ms. */
function throttled(report: (progress: PassProgress) => void): (progress: PassProgress) => void {
  let last = -Infinity;
  return (progress) => {
    const now = performance.now();
    const isEnd = progress.phase === 'prefill' && progress.promptTokensDone === progress.promptTokens;
    if (isEnd || now - last >= progressIntervalMs) {
      last = now;
      report(progress);
    }
  };
}

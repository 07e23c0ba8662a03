// SPDX-License-Identifier: MIT
// The models that are open in the storage worker, by number. Models of the store are shared by their users; their
// downloads live as long as somebody uses them. While ranges are missing, the model is written by one tab at a time.

import { SerialQueue } from '../async.js';
import type { BeginOptions } from '../download/begin.js';
import { LiveModel } from '../download/live-model.js';
import type { RemoteModel } from '../download/remote-model.js';
import { createError } from '../errors.js';
import type { AcquireOptions } from '../protocol/methods.js';
import type { ModelFiles } from '../storage/model-files.js';
import { ModelStore } from '../storage/model-store.js';
import type { ModelReader } from '../storage/store-types.js';
import { extras } from './extras.js';
import type { ModelTurn, TabTurns } from './tab-turns.js';

export interface OpenModel {
  readonly reader: ModelReader;
  /** null: files of the user and models that stay on their server, which are not shared. */
  readonly live: LiveModel | null;
  readonly sha256: readonly string[];
  /** null: no other tab can want to write it. */
  readonly turn: ModelTurn | null;
  references: number;
}

/** A large vocabulary, and what a server without ranges sends of a small model. */
const maxHeaderBytes = 256 << 20;

export class OpenModels {
  readonly #models = new Map<number, OpenModel>();
  /** Per URL: opening, closing and removing happen one after another. */
  readonly #queues = new Map<string, SerialQueue>();
  readonly #turns: (() => Promise<TabTurns>) | null;
  #nextId = 1;

  /** `turns`: null where no other tab has the same store. */
  constructor(turns: (() => Promise<TabTurns>) | null = null) {
    this.#turns = turns;
  }

  get count(): number {
    return this.#models.size;
  }

  get(modelId: number): OpenModel | null {
    return this.#models.get(modelId) ?? null;
  }

  /** Throws unless the model is open. */
  require(modelId: number): OpenModel {
    const model = this.get(modelId);
    if (model === null) {
      throw createError('io_failed', `model ${modelId} is not open`, { details: { modelId } });
    }
    return model;
  }

  inTurn<T>(url: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    let queue = this.#queues.get(url);
    if (queue === undefined) {
      queue = new SerialQueue();
      this.#queues.set(url, queue);
    }
    return queue.run(task, signal);
  }

  addFiles(reader: ModelReader): number {
    return this.#add({ reader, live: null, sha256: [], turn: null, references: 1 });
  }

  /** Opens or shares a model of the store. In turn. */
  async acquire(
    store: ModelStore,
    url: string,
    options: AcquireOptions,
    begin: BeginOptions,
  ): Promise<number> {
    const modelId = this.#share(store, url) ?? (await this.#open(store, url, options, begin));
    const { live, turn } = this.require(modelId);
    if (live !== null && options.verifyReads === 'always') {
      live.verifyReads = options.verifyReads;
    }
    if (live !== null && options.fetch === 'all') {
      fetchAll(live, turn, options.sha256);
    }
    if (begin.signal.aborted) {
      await this.close(store, modelId);
      throw begin.signal.reason;
    }
    return modelId;
  }

  /** Ends one use. In turn. */
  async close(store: ModelStore, modelId: number): Promise<void> {
    const model = this.#models.get(modelId);
    if (model === undefined) {
      return;
    }
    model.references -= 1;
    if (model.references === 0) {
      this.#models.delete(modelId);
      model.turn?.leave();
      try {
        await model.reader.close();
        await removeEmpty(store, model.live?.files ?? null);
      } finally {
        model.turn?.release();
      }
    }
  }

  async #open(
    store: ModelStore,
    url: string,
    { fetch, sha256 }: AcquireOptions,
    begin: BeginOptions,
  ): Promise<number> {
    const add = (reader: LiveModel | RemoteModel, turn: ModelTurn | null): number => {
      const live = 'files' in reader ? reader : null;
      return this.#add({ reader, live, sha256, turn, references: 1 });
    };
    if (this.#turns === null || store.kind !== 'opfs') {
      const { openLive } = await extras();
      return add(await openLive(store, url, fetch, begin), null);
    }
    const files = await store.openWhole(url);
    if (files !== null && files.wholeIsGood !== false) {
      return add(liveOf(files, begin), null);
    }
    await files?.close();
    const { openLive } = await extras();
    const turns = await this.#turns();
    const turn = await (fetch === 'all' ? turns.take(url, begin) : turns.tryTake(url));
    if (turn === null) {
      // Another tab is storing it: what little is wanted is not worth the wait.
      return add(await openLive(await headerStore(), url, fetch, begin), null);
    }
    try {
      return add(await openLive(store, url, fetch, begin), turn);
    } catch (error) {
      turn.release();
      throw error;
    }
  }

  #add(model: OpenModel): number {
    const modelId = this.#nextId++;
    this.#models.set(modelId, model);
    return modelId;
  }

  /** One more reference to a model of the same URL: handles are exclusive in some browsers. */
  #share(store: ModelStore, url: string): number | null {
    for (const [modelId, model] of this.#models) {
      if (model.live?.files.url === url && model.live.kind === store.kind) {
        model.references += 1;
        return modelId;
      }
    }
    return null;
  }
}

/** A download that has brought nothing leaves nothing. */
async function removeEmpty(store: ModelStore, files: ModelFiles | null): Promise<void> {
  if (files !== null && files.verifiedBytes === 0 && files.kind === store.kind) {
    await store.remove(files.url).catch(() => undefined);
  }
}

/** Of a model that is whole; damage that is found is fetched again. */
const liveOf = (files: ModelFiles, begin: BeginOptions): LiveModel =>
  new LiveModel(files, async () => {
    const { newDownload, checkWhole } = await extras();
    return { newDownload: () => newDownload(files, begin), checkWhole };
  });

/** Keeps a header for as long as somebody reads it. */
async function headerStore(): Promise<ModelStore> {
  const { MemoryBackend } = await extras();
  return new ModelStore(new MemoryBackend(maxHeaderBytes));
}

/** Whoever follows hears of failures, in other tabs as well. */
function fetchAll(live: LiveModel, turn: ModelTurn | null, sha256: readonly string[]): void {
  const whole = (): Promise<void> => live.whole(sha256.length > 0 ? sha256 : undefined);
  if (turn === null) {
    whole().catch(() => undefined);
    return;
  }
  const attempt = (): void =>
    void whole().then(
      () => turn.release(),
      (error: unknown) => turn.fail(error),
    );
  live.download?.onProgress(turn.report);
  turn.onWaiting = attempt;
  attempt();
}

// SPDX-License-Identifier: MIT
// What the storage worker does, without its `self`, so that tests run it in node: keeps models in the store, fetches
// what is missing, and serves reads to engine workers. The only owner of readers; others name them by number.

import { abortable } from '../async.js';
import type { BeginOptions } from '../download/begin.js';
import type { Fetch } from '../download/request.js';
import type { RetryPolicy } from '../download/retry.js';
import { Dispatcher, type CallContext, type Handlers } from '../protocol/dispatcher.js';
import type { Endpoint } from '../protocol/endpoint.js';
import type { AcquireOptions, AcquireSource, ReadMethods, StorageMethods } from '../protocol/methods.js';
import type { ChosenStore } from '../storage/open-store.js';
import type { ModelStore } from '../storage/model-store.js';
import { extras } from './extras.js';
import { OpenModels } from './open-models.js';
import { ReadServer } from './read-server.js';
import type { Tabs } from './tab-turns.js';

export interface StorageServiceOptions {
  openStore(): Promise<ChosenStore>;
  holdLock(name: string): Promise<boolean>;
  fetch?: Fetch;
  retry?: Partial<RetryPolicy>;
  estimate?: () => Promise<StorageEstimate>;
  /** Of the page. */
  origin?: string;
  /** Other tabs of this origin, which have the same file system. */
  tabs?: Tabs;
}

/** What the engine reads first of a header: nothing is on the way when it has seen enough. */
const firstDemandBytes = 1 << 20;

type Acquire = StorageMethods['acquire'];

export class StorageService {
  readonly handlers: Handlers<StorageMethods>;
  readonly #options: StorageServiceOptions;
  readonly #models: OpenModels;
  readonly #reads = new ReadServer({
    readerOf: (modelId) => this.#models.get(modelId)?.reader ?? null,
    setOrder: (modelId, extents) => this.#models.get(modelId)?.live?.download?.setOrder(extents),
  });
  #store: Promise<ChosenStore> | null = null;

  constructor(options: StorageServiceOptions) {
    this.#options = options;
    const { tabs } = options;
    // Loaded by tabs that store something: those that only read need no turn.
    this.#models = new OpenModels(
      tabs === undefined ? null : async () => new (await extras()).TabTurns(tabs),
    );
    this.handlers = {
      watch: async ({ lockName }) => ({ held: await options.holdLock(lockName) }),
      acquire: (params, context) => this.#acquire(params.source, params.options, context),
      follow: ({ modelId }, context) => this.#follow(modelId, context),
      release: async ({ modelId }) => {
        await this.#release(modelId);
        return null;
      },
      attach: async ({ port }) => {
        this.serveReads(port);
        return null;
      },
      list: async () => ({ models: await (await this.#chosen()).store.list() }),
      remove: async ({ url }) => ({
        removed: await this.#models.inTurn(url, async () => (await this.#chosen()).store.remove(url)),
      }),
      verify: (params, context) =>
        this.#inStore(params.url, context, async (store) =>
          (await extras()).verify(store, params.url, context),
        ),
      export: (params, context) =>
        this.#inStore(params.url, context, async (store) =>
          (await extras()).exportPart(store, params, context),
        ),
      import: (params, context) =>
        this.#inStore(params.url, context, async (store) =>
          (await extras()).importFiles(store, params, context, this.#options.estimate),
        ),
    };
  }

  /** Models that are open for reading. */
  get openCount(): number {
    return this.#models.count;
  }

  serveReads(port: Endpoint): Dispatcher<ReadMethods> {
    return new Dispatcher<ReadMethods>(port, this.#reads.handlers());
  }

  #chosen(): Promise<ChosenStore> {
    this.#store ??= this.#options.openStore();
    return this.#store;
  }

  /** While nobody in this page opens or closes the model. */
  async #inStore<T>(
    url: string,
    { signal }: { signal: AbortSignal },
    task: (store: ModelStore) => Promise<T>,
  ): Promise<T> {
    const { store } = await this.#chosen();
    return this.#models.inTurn(url, () => task(store), signal);
  }

  async #acquire(
    source: AcquireSource,
    options: AcquireOptions,
    context: CallContext<Acquire>,
  ): Promise<Acquire['result']> {
    if (source.kind === 'files') {
      const { openFiles } = await extras();
      const reader = await abortable(openFiles(source.files), context.signal);
      return this.#describe(this.#models.addFiles(reader), null);
    }
    const { url } = source;
    const { store, reason } = await this.#chosen();
    const task = (): Promise<number> =>
      this.#models.acquire(store, url, options, this.#beginOptions(options, context));
    const modelId = await this.#models.inTurn(url, task, context.signal);
    return this.#describe(modelId, store.kind === 'memory' ? reason : null);
  }

  #beginOptions(
    { headers, sha256, fetch: what }: AcquireOptions,
    context: CallContext<Acquire>,
  ): BeginOptions {
    const { fetch, retry, estimate, origin } = this.#options;
    return {
      headers,
      sha256,
      signal: context.signal,
      onProgress: (progress) => context.progress({ phase: 'download', ...progress }),
      ...(what === 'demand' ? { firstBytes: firstDemandBytes } : {}),
      ...(fetch === undefined ? {} : { fetch }),
      ...(retry === undefined ? {} : { retry }),
      ...(estimate === undefined ? {} : { estimate }),
      ...(origin === undefined ? {} : { origin }),
    };
  }

  async #follow(modelId: number, context: CallContext<StorageMethods['follow']>): Promise<null> {
    const { live, sha256 } = this.#models.require(modelId);
    if (live === null) {
      return null;
    }
    const download = live.files.isComplete ? null : await abortable(live.startDownload(), context.signal);
    const report = download?.onProgress((progress) => context.progress({ phase: 'download', ...progress }));
    try {
      await abortable(live.whole(sha256.length > 0 ? sha256 : undefined), context.signal);
      return null;
    } finally {
      report?.();
    }
  }

  #describe(modelId: number, reason: string | null): Acquire['result'] {
    const { reader, live } = this.#models.require(modelId);
    const isRemote = reader.kind === 'network';
    const storageReason =
      isRemote && reason !== null ? `${reason}, and the model is too large for memory` : reason;
    const isWhole = live?.files.isComplete ?? !isRemote;
    return { modelId, storage: reader.kind, storageReason, isWhole, partBytes: reader.partBytes };
  }

  async #release(modelId: number): Promise<void> {
    const { store } = await this.#chosen();
    const url = this.#models.get(modelId)?.live?.files.url;
    const close = (): Promise<void> => this.#models.close(store, modelId);
    await (url === undefined ? close() : this.#models.inTurn(url, close));
  }
}

// SPDX-License-Identifier: MIT
// What the storage worker does, without its `self`, so that tests run it in node: downloads models into the store,
// opens them, and serves reads to engine workers. The only owner of readers; engine workers name them by number.

import { abortable, SerialQueue } from '../async.js';
import { downloadModel, type Fetch } from '../download/download-model.js';
import { createError } from '../errors.js';
import type { StorageKind } from '../protocol/data.js';
import { Dispatcher, type CallContext, type Handlers } from '../protocol/dispatcher.js';
import type { Endpoint } from '../protocol/endpoint.js';
import type { AcquireSource, ReadMethods, StorageMethods } from '../protocol/methods.js';
import { openFiles } from '../storage/blob-reader.js';
import type { ModelReader } from '../storage/model-store.js';
import type { ChosenStore } from '../storage/open-store.js';
import { ReadServer } from './read-server.js';

export interface StorageServiceOptions {
  openStore(): Promise<ChosenStore>;
  holdLock(name: string): Promise<boolean>;
  fetch?: Fetch;
  estimate?: () => Promise<StorageEstimate>;
}

interface OpenModel {
  readonly reader: ModelReader;
  /** null: files of the user, which are not shared. */
  readonly url: string | null;
  references: number;
}

export class StorageService {
  readonly handlers: Handlers<StorageMethods>;
  readonly #options: StorageServiceOptions;
  readonly #models = new Map<number, OpenModel>();
  /** Per URL: the second of two loads waits for the first one's download. Also covers open, close and remove. */
  readonly #queues = new Map<string, SerialQueue>();
  readonly #reads = new ReadServer((modelId) => this.#models.get(modelId)?.reader ?? null);
  #store: Promise<ChosenStore> | null = null;
  #nextId = 1;

  constructor(options: StorageServiceOptions) {
    this.#options = options;
    this.handlers = {
      watch: async ({ lockName }) => ({ held: await options.holdLock(lockName) }),
      acquire: (params, context) => this.#acquire(params.source, params.headers, context),
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
        removed: await this.#queue(url).run(async () => (await this.#chosen()).store.remove(url)),
      }),
    };
  }

  /** Models that are open for reading. */
  get openCount(): number {
    return this.#models.size;
  }

  serveReads(port: Endpoint): Dispatcher<ReadMethods> {
    return new Dispatcher<ReadMethods>(port, this.#reads.handlers);
  }

  #chosen(): Promise<ChosenStore> {
    this.#store ??= this.#options.openStore();
    return this.#store;
  }

  #queue(url: string): SerialQueue {
    let queue = this.#queues.get(url);
    if (queue === undefined) {
      queue = new SerialQueue();
      this.#queues.set(url, queue);
    }
    return queue;
  }

  async #acquire(
    source: AcquireSource,
    headers: Readonly<Record<string, string>>,
    context: CallContext<StorageMethods['acquire']>,
  ): Promise<StorageMethods['acquire']['result']> {
    if (source.kind === 'files') {
      const reader = await abortable(openFiles(source.files), context.signal);
      return this.#describe(this.#add(reader, null), null);
    }
    const { url } = source;
    return this.#queue(url).run(async () => {
      const { store, reason } = await this.#chosen();
      const modelId = this.#share(url) ?? this.#add(await this.#ensure(url, headers, context), url);
      if (context.signal.aborted) {
        await this.#close(modelId);
        throw context.signal.reason;
      }
      return this.#describe(modelId, store.kind === 'memory' ? reason : null);
    }, context.signal);
  }

  async #ensure(
    url: string,
    headers: Readonly<Record<string, string>>,
    context: CallContext<StorageMethods['acquire']>,
  ): Promise<ModelReader> {
    const { store } = await this.#chosen();
    const stored = await store.open(url);
    if (stored !== null) {
      return stored;
    }
    const { fetch, estimate } = this.#options;
    await downloadModel(store, url, {
      headers,
      signal: context.signal,
      onProgress: (progress) => context.progress({ phase: 'download', ...progress }),
      ...(fetch === undefined ? {} : { fetch }),
      ...(estimate === undefined || store.kind === 'memory' ? {} : { estimate }),
    });
    const reader = await store.open(url);
    if (reader === null) {
      throw createError('storage_failed', `${url} was stored, but cannot be opened`, { details: { url } });
    }
    return reader;
  }

  #add(reader: ModelReader, url: string | null): number {
    const modelId = this.#nextId++;
    this.#models.set(modelId, { reader, url, references: 1 });
    return modelId;
  }

  /** One more reference to a reader of the same URL: handles are exclusive in some browsers. */
  #share(url: string): number | null {
    for (const [modelId, model] of this.#models) {
      if (model.url === url) {
        model.references += 1;
        return modelId;
      }
    }
    return null;
  }

  #describe(modelId: number, storageReason: string | null): StorageMethods['acquire']['result'] {
    const reader = this.#models.get(modelId)?.reader;
    const storage: StorageKind = reader?.kind ?? 'memory';
    return { modelId, storage, storageReason, partBytes: reader?.partBytes ?? [] };
  }

  async #release(modelId: number): Promise<void> {
    const url = this.#models.get(modelId)?.url ?? null;
    await (url === null ? this.#close(modelId) : this.#queue(url).run(() => this.#close(modelId)));
  }

  async #close(modelId: number): Promise<void> {
    const model = this.#models.get(modelId);
    if (model === undefined) {
      return;
    }
    model.references -= 1;
    if (model.references === 0) {
      this.#models.delete(modelId);
      await model.reader.close();
    }
  }
}

// SPDX-License-Identifier: MIT
// The models that are open in the storage worker, by number. Models of the store are shared by their users; their
// downloads live as long as somebody uses them.

import { SerialQueue } from '../async.js';
import { beginDownload, type BeginOptions } from '../download/begin.js';
import { LiveModel } from '../download/live-model.js';
import { ModelDownload } from '../download/model-download.js';
import { createError, LayerstreamError } from '../errors.js';
import type { AcquireOptions } from '../protocol/methods.js';
import type { ModelFiles } from '../storage/model-files.js';
import type { ModelStore } from '../storage/model-store.js';
import type { ModelReader } from '../storage/store-types.js';

export interface OpenModel {
  readonly reader: ModelReader;
  /** null: files of the user, which are not shared. */
  readonly live: LiveModel | null;
  readonly sha256: readonly string[];
  references: number;
}

/** Models that came from files; they cannot be fetched. */
const isFetchable = (url: string): boolean => /^(https?|blob|data):/.test(url);

export class OpenModels {
  readonly #models = new Map<number, OpenModel>();
  /** Per URL: opening, closing and removing happen one after another. */
  readonly #queues = new Map<string, SerialQueue>();
  #nextId = 1;

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
    return this.#add({ reader, live: null, sha256: [], references: 1 });
  }

  /** Opens or shares a model of the store. In turn. */
  async acquire(
    store: ModelStore,
    url: string,
    { fetch, verifyReads, sha256 }: AcquireOptions,
    begin: BeginOptions,
  ): Promise<number> {
    const modelId = this.#share(url) ?? this.#addLive(await openLive(store, url, fetch, begin), sha256);
    const { live } = this.require(modelId);
    if (live !== null && verifyReads === 'always') {
      live.verifyReads = verifyReads;
    }
    if (fetch === 'all') {
      // Whoever follows hears of failures.
      live?.whole(sha256.length > 0 ? sha256 : undefined).catch(() => undefined);
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
      await model.reader.close();
      await removeEmpty(store, model.live?.files ?? null);
    }
  }

  #addLive(live: LiveModel, sha256: readonly string[]): number {
    return this.#add({ reader: live, live, sha256, references: 1 });
  }

  #add(model: OpenModel): number {
    const modelId = this.#nextId++;
    this.#models.set(modelId, model);
    return modelId;
  }

  /** One more reference to a model of the same URL: handles are exclusive in some browsers. */
  #share(url: string): number | null {
    for (const [modelId, model] of this.#models) {
      if (model.live?.files.url === url) {
        model.references += 1;
        return modelId;
      }
    }
    return null;
  }
}

/** A download that has brought nothing leaves nothing. */
async function removeEmpty(store: ModelStore, files: ModelFiles | null): Promise<void> {
  if (files !== null && files.verifiedBytes === 0) {
    await store.remove(files.url).catch(() => undefined);
  }
}

/** Stored: as it is, going on with what is missing. Absent, or known to be wrong as a whole: anew. */
async function openLive(
  store: ModelStore,
  url: string,
  fetch: AcquireOptions['fetch'],
  begin: BeginOptions,
): Promise<LiveModel> {
  const files = await store.open(url);
  if (files !== null && files.wholeIsGood !== false) {
    const live = await resume(files, fetch, begin);
    if (live !== null) {
      return live;
    }
  }
  await files?.close();
  if (!isFetchable(url)) {
    throw createError('bad_argument', `${url} is not stored, and cannot be downloaded`, { details: { url } });
  }
  const begun = await beginDownload(store, url, begin);
  return new LiveModel(begun.files, begun.download ?? new ModelDownload(begun.files, begin));
}

/** null: the file at the URL is another one now. What was found to be damaged is only fetched when it is needed. */
async function resume(
  files: ModelFiles,
  fetch: AcquireOptions['fetch'],
  begin: BeginOptions,
): Promise<LiveModel | null> {
  if (!isFetchable(files.url)) {
    return new LiveModel(files, null);
  }
  const download = new ModelDownload(files, begin);
  try {
    if (files.state === 'partial' && fetch === 'all') {
      await download.begin(begin.signal);
    }
    return new LiveModel(files, download);
  } catch (error) {
    download.stop(error);
    if (error instanceof LayerstreamError && error.code === 'remote_changed') {
      return null;
    }
    await files.close();
    throw error;
  }
}

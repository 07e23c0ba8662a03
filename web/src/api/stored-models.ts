// SPDX-License-Identifier: MIT
// verifyModel, exportModel and importFile: what is done with stored models without loading them.

import type { Client } from '../protocol/client.js';
import type { StorageMethods } from '../protocol/methods.js';
import type { ImportOptions, ModelCheck, StoredModelOptions } from './types.js';

/** Key of a model that came from a file and has no URL. */
const keyOf = (name: string): string => `import:${encodeURIComponent(name)}`;

/** What it needs of the package. */
export interface Storage {
  storageClient(): Client<StorageMethods>;
  absolute(url: string | URL): string;
}

export class StoredModels {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  verify(url: string | URL, { signal, onProgress }: StoredModelOptions = {}): Promise<ModelCheck | null> {
    return this.#storage
      .storageClient()
      .call('verify', { url: this.#storage.absolute(url) }, { signal, onProgress });
  }

  export(
    url: string | URL,
    { part = 0, signal }: { part?: number; signal?: AbortSignal } = {},
  ): ReadableStream<Uint8Array> {
    const stream = this.#storage
      .storageClient()
      .stream('export', { url: this.#storage.absolute(url), part }, { signal });
    const chunks = stream[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await chunks.next();
          if (done === true) {
            controller.close();
          } else {
            controller.enqueue(value.data);
          }
        },
        cancel: async () => void (await chunks.return?.()),
      },
      { highWaterMark: 0 },
    );
  }

  async import(
    source: File | readonly File[],
    { url, signal, onProgress }: ImportOptions = {},
  ): Promise<string> {
    const files = source instanceof Blob ? [source] : source;
    const key = url === undefined ? keyOf(files[0]?.name ?? '') : this.#storage.absolute(url);
    await this.#storage.storageClient().call('import', { url: key, files }, { signal, onProgress });
    return key;
  }
}

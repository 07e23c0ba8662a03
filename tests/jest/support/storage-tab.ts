// SPDX-License-Identifier: MIT
// The storage worker of one tab, in node. Several may share a file system, as the tabs of a browser do, and each can
// be killed.

import { Client } from '#web/protocol/client.js';
import type { LoadProgress } from '#web/protocol/data.js';
import { Dispatcher } from '#web/protocol/dispatcher.js';
import type { AcquireOptions, ReadMethods, StorageMethods } from '#web/protocol/methods.js';
import { ModelStore } from '#web/storage/model-store.js';
import { OpfsBackend } from '#web/storage/opfs-folder.js';
import { StorageService, type StorageServiceOptions } from '#web/worker/storage-service.js';
import { within } from './assertions.js';
import { testRangeBytes } from './download.js';
import type { FakeOpfs } from './fake-opfs.js';
import { quickRetry } from './test-host.js';

export type Acquired = StorageMethods['acquire']['result'];

const usual: AcquireOptions = { headers: {}, fetch: 'all', verifyReads: 'first', sha256: [] };

export class StorageTab {
  readonly service: StorageService;
  readonly page: Client<StorageMethods>;
  readonly #opfs: FakeOpfs;
  readonly #dispatcher: Dispatcher<StorageMethods>;
  readonly #ports: MessagePort[] = [];
  readonly #death = new AbortController();

  constructor(opfs: FakeOpfs, options: Partial<StorageServiceOptions> = {}) {
    this.#opfs = opfs;
    const send = options.fetch ?? fetch;
    this.service = new StorageService({
      openStore: async () => ({
        store: new ModelStore(await OpfsBackend.open(opfs.root), testRangeBytes),
        reason: null,
      }),
      holdLock: async () => false,
      retry: quickRetry,
      ...options,
      fetch: (url, init) =>
        send(url, {
          ...init,
          signal: AbortSignal.any([this.#death.signal, ...(init.signal ? [init.signal] : [])]),
        }),
    });
    const { port1, port2 } = new MessageChannel();
    this.#ports.push(port1, port2);
    this.#dispatcher = new Dispatcher<StorageMethods>(port2, this.service.handlers);
    this.page = new Client<StorageMethods>(port1);
  }

  acquire(
    url: string,
    how: Partial<AcquireOptions> = {},
    signal?: AbortSignal,
    onProgress?: (progress: LoadProgress) => void,
  ): Promise<Acquired> {
    const params = { source: { kind: 'url', url }, options: { ...usual, ...how } } as const;
    return within(20_000, this.page.call('acquire', params, { signal, onProgress }), 'acquire');
  }

  follow(modelId: number, onProgress?: (progress: LoadProgress) => void): Promise<null> {
    return within(20_000, this.page.call('follow', { modelId }, { onProgress }), 'the download');
  }

  async release(modelId: number): Promise<void> {
    await within(5_000, this.page.call('release', { modelId }), 'release');
  }

  async read(modelId: number, offset: number, bytes: number): Promise<Uint8Array> {
    const { port1, port2 } = new MessageChannel();
    this.#ports.push(port1);
    await this.page.call('attach', { port: port2 }, { transfer: [port2] });
    const call = { modelId, extents: [{ part: 0, offset, bytes }], recycled: [] };
    const { buffer } = await within(20_000, new Client<ReadMethods>(port1).call('read', call), 'the read');
    return new Uint8Array(buffer, 0, bytes);
  }

  /** As the browser does it: nothing is written, fetched or answered any more. */
  kill(): void {
    this.#death.abort();
    this.#opfs.kill();
    this.close();
  }

  close(): void {
    this.#dispatcher.close();
    this.page.close(new Error('the worker is gone'));
    this.#ports.forEach((port) => port.close());
  }
}

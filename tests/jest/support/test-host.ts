// SPDX-License-Identifier: MIT
// The package's API in one process: its workers' services are joined by MessageChannels instead of Workers.

import type { Host, WorkerLink } from '#web/api/host.js';
import { createApi, type PackageApi } from '#web/api/package-api.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { Dispatcher, type Handlers } from '#web/protocol/dispatcher.js';
import type { EngineMethods, MethodMap, StorageMethods } from '#web/protocol/methods.js';
import { MemoryBackend } from '#web/storage/memory-folder.js';
import { ModelStore } from '#web/storage/model-store.js';
import type { RetryPolicy } from '#web/download/retry.js';
import { EngineService } from '#web/worker/engine-service.js';
import { StorageService } from '#web/worker/storage-service.js';

/** Three tries, without the waits. */
export const quickRetry: RetryPolicy = { attempts: 3, firstDelayMs: 5, maxDelayMs: 10, stallMs: 20_000 };

export class TestHost implements Host {
  readonly baseUrl: string;
  readonly locks = undefined;
  readonly isolated = false;
  readonly logicalProcessors = 2;
  readonly api: PackageApi;
  enginePatienceMs: readonly number[] = [120_000];
  /** Engines that are started and never answer. */
  deadEngines = 0;
  store = new ModelStore(new MemoryBackend());
  retry = quickRetry;
  /** Why the store is what it is. */
  storageReason: string | null = null;
  /** Called by tests to end a worker as the browser would. */
  readonly crashes: { what: 'engine' | 'storage'; crash(cause: string): void }[] = [];
  readonly engines: EngineService[] = [];
  readonly storages: StorageService[] = [];
  readonly #loadModule: () => Promise<LayerstreamModule>;
  readonly #ports: MessagePort[] = [];

  constructor(baseUrl: string, loadModule: () => Promise<LayerstreamModule>) {
    this.baseUrl = baseUrl;
    this.#loadModule = loadModule;
    this.api = createApi(this);
  }

  startEngine(): WorkerLink {
    if (this.deadEngines > 0) {
      this.deadEngines -= 1;
      const { port1, port2 } = new MessageChannel();
      this.#ports.push(port1, port2);
      return { endpoint: port1, terminate: () => port1.close(), onCrash: () => undefined };
    }
    const service = new EngineService({ loadModule: this.#loadModule, holdLock: async () => false });
    this.engines.push(service);
    // Ending a real worker frees its memory.
    return this.#link<EngineMethods>('engine', service.handlers, () => void service.dispose());
  }

  startStorage(): WorkerLink {
    const { store, retry, storageReason } = this;
    const service = new StorageService({
      openStore: async () => ({ store, reason: storageReason }),
      holdLock: async () => false,
      retry,
    });
    this.storages.push(service);
    return this.#link<StorageMethods>('storage', service.handlers, () => undefined);
  }

  persist(): void {}

  /** Ends everything. */
  async close(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.dispose()));
    this.#ports.forEach((port) => port.close());
  }

  #link<M extends MethodMap<M>>(
    what: 'engine' | 'storage',
    handlers: Handlers<M>,
    end: () => void,
  ): WorkerLink {
    const { port1, port2 } = new MessageChannel();
    this.#ports.push(port1, port2);
    const dispatcher = new Dispatcher<M>(port2, handlers);
    let onCrash: (cause: unknown) => void = () => undefined;
    this.crashes.push({
      what,
      crash: (cause) => {
        dispatcher.close();
        onCrash(cause);
      },
    });
    return {
      endpoint: port1,
      terminate: () => {
        dispatcher.close();
        end();
      },
      onCrash: (listener) => {
        onCrash = listener;
      },
    };
  }
}

// SPDX-License-Identifier: MIT
// The engine in a worker thread, the storage service in this one: it only waits for the disk.

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Host, WorkerLink } from '../api/host.js';
import { Dispatcher } from '../protocol/dispatcher.js';
import type { Endpoint, EndpointMessage } from '../protocol/endpoint.js';
import type { StorageMethods } from '../protocol/methods.js';
import { MemoryBackend } from '../storage/memory-folder.js';
import { openStore } from '../storage/open-store.js';
import { StorageService } from '../worker/storage-service.js';

type Listener = (event: EndpointMessage) => void;

function startEngine(): WorkerLink {
  const worker = new Worker(new URL('./engine-thread.js', import.meta.url));
  const listeners = new Map<Listener, (data: unknown) => void>();
  return {
    endpoint: {
      postMessage: (message, transfer) => worker.postMessage(message, transfer),
      addEventListener: (type, listener) => {
        const forward = (data: unknown): void => listener({ data });
        listeners.set(listener, forward);
        worker.on(type, forward);
      },
      removeEventListener: (type, listener) => {
        const forward = listeners.get(listener);
        if (forward !== undefined) {
          worker.off(type, forward);
        }
      },
    },
    terminate: () => void worker.terminate(),
    onCrash: (listener) => {
      worker.on('error', listener);
      worker.on('exit', (code) => listener(`it ended with status ${code}`));
    },
  };
}

/** Two ends in one thread. Messages are handed over as they are, and keep no process alive, unlike a MessageChannel. */
function endpointPair(): [Endpoint, Endpoint] {
  const listeners: [Set<Listener>, Set<Listener>] = [new Set(), new Set()];
  const end = (own: 0 | 1): Endpoint => ({
    postMessage: (data) =>
      queueMicrotask(() => listeners[own === 0 ? 1 : 0].forEach((listen) => listen({ data }))),
    // No message gets lost here.
    addEventListener: (type, listener) => void (type === 'message' && listeners[own].add(listener)),
    removeEventListener: (_, listener) => void listeners[own].delete(listener),
  });
  return [end(0), end(1)];
}

function startStorage(): WorkerLink {
  const [mine, theirs] = endpointPair();
  const service = new StorageService({
    openStore: () => openStore(undefined, async (limitBytes) => new MemoryBackend(limitBytes)),
    holdLock: async () => false,
  });
  const dispatcher = new Dispatcher<StorageMethods>(theirs, service.handlers);
  return { endpoint: mine, terminate: () => dispatcher.close(), onCrash: () => undefined };
}

export const nodeHost: Host = {
  startEngine,
  enginePatienceMs: [240_000],
  startStorage,
  baseUrl: undefined,
  persist: () => undefined,
  isolated: false,
  logicalProcessors: availableParallelism(),
  locks: undefined,
};

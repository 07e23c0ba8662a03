// SPDX-License-Identifier: MIT
// Entry of the storage worker: one per page, the only owner of file handles.

import { Dispatcher } from '../protocol/dispatcher.js';
import type { StorageMethods } from '../protocol/methods.js';
import { openStore } from '../storage/open-store.js';
import { extras } from './extras.js';
import { StorageService } from './storage-service.js';
import { holdLock, isFirstCopy, workerEndpoint } from './worker-scope.js';

function start(storage: StorageManager | undefined): void {
  const service = new StorageService({
    openStore: () => openStore(storage, async (limitBytes) => new (await extras()).MemoryBackend(limitBytes)),
    holdLock,
    origin: globalThis.location.origin,
    ...(navigator.locks === undefined || typeof BroadcastChannel === 'undefined'
      ? {}
      : { tabs: { locks: navigator.locks, channel: new BroadcastChannel('layerstream-models') } }),
    ...(storage === undefined ? {} : { estimate: () => storage.estimate() }),
  });
  new Dispatcher<StorageMethods>(workerEndpoint(), service.handlers);
}

if (isFirstCopy()) {
  start(navigator.storage);
}

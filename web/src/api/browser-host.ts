// SPDX-License-Identifier: MIT
// Workers of a real page. The `new Worker(new URL(…))` expressions are literal so that bundlers see them.

import { assetUrl } from './assets.js';
import type { Host, WorkerLink } from './host.js';

function link(worker: Worker): WorkerLink {
  return {
    endpoint: {
      postMessage: (message, transfer) => worker.postMessage(message, transfer),
      addEventListener: (type, listener) => worker.addEventListener(type, listener),
      removeEventListener: (type, listener) => worker.removeEventListener(type, listener),
    },
    terminate: () => worker.terminate(),
    onCrash: (listener) => {
      // `error` also comes when the script cannot be loaded, and then has no message.
      worker.addEventListener(
        'error',
        (event) => listener(event.message || 'its script failed or could not be loaded'),
        {
          once: true,
        },
      );
    },
  };
}

function startCopied(file: string): Worker | null {
  const url = assetUrl(file);
  return url === null ? null : new Worker(url, { type: 'module' });
}

export const browserHost: Host = {
  // On a first visit 400 KB come over the network; a computer that does three other things takes seconds, too.
  enginePatienceMs: [15_000, 60_000, 240_000],
  startEngine: () =>
    link(
      startCopied('worker/engine-worker.js') ??
        new Worker(new URL('../worker/engine-worker.js', import.meta.url), { type: 'module' }),
    ),
  startStorage: () =>
    link(
      startCopied('worker/storage-worker.js') ??
        new Worker(new URL('../worker/storage-worker.js', import.meta.url), { type: 'module' }),
    ),
  get baseUrl() {
    return globalThis.document?.baseURI ?? globalThis.location?.href;
  },
  get isolated() {
    return globalThis.crossOriginIsolated === true;
  },
  get logicalProcessors() {
    return globalThis.navigator?.hardwareConcurrency ?? 1;
  },
  persist: () => {
    // Not awaited: Firefox asks the user.
    globalThis.navigator?.storage?.persist?.().catch(() => undefined);
  },
  get locks() {
    return globalThis.navigator?.locks;
  },
};

// SPDX-License-Identifier: MIT
// What a dedicated worker's `self` offers, in the words of this package. (TypeScript's DOM and WebWorker libraries
// cannot be used together; this is all we need of the second.)

import type { Endpoint, EndpointMessage } from '../protocol/endpoint.js';

/** The worker's own end of the channel to the page. */
export function workerEndpoint(): Endpoint {
  return {
    // In a worker the second argument of the global postMessage is the transfer list.
    postMessage: (message, transfer) => globalThis.postMessage(message, { transfer }),
    addEventListener: (type, listener: (event: EndpointMessage) => void) =>
      globalThis.addEventListener(type, listener),
    removeEventListener: (type, listener: (event: EndpointMessage) => void) =>
      globalThis.removeEventListener(type, listener),
  };
}

/**
 * false for the second and later copies of a worker's entry. Bundlers put what a lazily loaded part shares with the entry
 * into the entry's own file, which the part then imports; WebKit, when busy, does not know that it runs that file already.
 */
export function isFirstCopy(): boolean {
  const scope = globalThis as { layerstream?: true };
  const isFirst = !scope.layerstream;
  scope.layerstream = true;
  return isFirst;
}

/** Resolves when this worker holds the lock; it keeps it until it dies. false: this browser has no Web Locks. */
export function holdLock(name: string): Promise<boolean> {
  const locks = typeof navigator === 'undefined' ? undefined : navigator.locks;
  if (locks === undefined) {
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    locks
      .request(name, () => {
        resolve(true);
        return new Promise<never>(() => undefined);
      })
      .catch(() => resolve(false));
  });
}

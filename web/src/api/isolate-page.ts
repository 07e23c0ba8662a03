// SPDX-License-Identifier: MIT
// Cross-origin isolation for pages whose host cannot set headers: a service worker sets them.

import { createError } from '../errors.js';

/** In sessionStorage: a reload was tried, so that a page that cannot be isolated is not reloaded for ever. */
const triedKey = 'layerstream-isolation-tried';

/**
 * Makes the page cross-origin isolated, so that the engine can use threads, on hosts that cannot send the headers: registers
 * `layerstream/isolation-service-worker.js`, which the page has to serve from its own folder or above, and reloads the page
 * once. Resolves to true on an isolated page, to false where isolation cannot be had; while the page is about to reload
 * it does not resolve.
 *
 * @example
 * await isolatePage('./isolation-service-worker.js');
 */
export async function isolatePage(serviceWorkerUrl: string | URL): Promise<boolean> {
  if (globalThis.crossOriginIsolated === true) {
    sessionStorage.removeItem(triedKey);
    return true;
  }
  const workers: ServiceWorkerContainer | undefined = globalThis.navigator?.serviceWorker;
  if (workers === undefined || sessionStorage.getItem(triedKey) !== null) {
    return false;
  }
  try {
    await workers.register(serviceWorkerUrl);
    await workers.ready;
  } catch (error) {
    throw createError('unsupported_browser', `no service worker at ${String(serviceWorkerUrl)}`, {
      details: { url: String(serviceWorkerUrl) },
      cause: error,
    });
  }
  sessionStorage.setItem(triedKey, '1');
  location.reload();
  return new Promise(() => undefined);
}

// SPDX-License-Identifier: MIT
// A service worker that adds the headers of cross-origin isolation to every answer, for static hosts that cannot set them.
// It stores nothing. A page registers it through isolatePage(); an application with a service worker of its own adds the
// headers there instead (docs/hosting.md).

// TypeScript's DOM and WebWorker libraries cannot be used together; this is all we need of the second.
interface ExtendableEvent extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface FetchEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface ServiceWorkerScope {
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
}

const scope = globalThis as unknown as ServiceWorkerScope;

async function withIsolation(request: Request): Promise<Response> {
  const response = await fetch(request);
  // Answers of other origins that did not agree to be read cannot be copied.
  if (response.type === 'opaque' || response.type === 'opaqueredirect' || response.type === 'error') {
    return response;
  }
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  const { status, statusText } = response;
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? response.body : null, { status, statusText, headers });
}

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener('fetch', (event) => {
  const { request } = event;
  // Only documents and scripts of this origin decide about isolation; downloads of models pass by untouched.
  const decides =
    request.mode === 'navigate' || ['worker', 'sharedworker', 'script'].includes(request.destination);
  if (decides && new URL(request.url).origin === location.origin) {
    event.respondWith(withIsolation(request));
  }
});

// SPDX-License-Identifier: MIT
// Keeps the page itself on this device, so that it opens without a network: documents, scripts, styles, wasm. Models are
// not its business: they are in the package's store, and requests for them pass by untouched. On hosts that cannot send
// the headers of cross-origin isolation it adds them (from the second visit on), which is what threads need.

// TypeScript's DOM and WebWorker libraries cannot be used together; this is all we need of the second.
interface ExtendableEvent extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface FetchEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Scope {
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
}
const worker = globalThis as unknown as Scope;

/** Written by the build (vite.config.mjs): every file of the page, relative to it, and a hash over all of them. */
declare const PRECACHE_LIST: { version: string; files: string[] };
const { version, files } = PRECACHE_LIST;

const PREFIX = 'layerstream-page-';
const CACHE = PREFIX + version;
const ROOT = new URL('./', location.href).href;
const LISTED = new Set(files.map((file) => new URL(file, ROOT).href));
/** A network that does not answer is as good as none. */
const PATIENCE_MS = 3000;

/** Names in assets/ have a hash of the content: what an older version cached is still right. */
const isImmutable = (url: string): boolean => url.startsWith(`${ROOT}assets/`);

async function precache(): Promise<void> {
  const cache = await caches.open(CACHE);
  for (const url of LISTED) {
    const known = isImmutable(url) ? await caches.match(url) : undefined;
    const response = known ?? (await fetch(url, { cache: 'no-cache' }));
    if (!response.ok) throw new Error(`${url}: status ${response.status}`);
    await cache.put(url, response);
  }
}

// Pages that are open already are left alone (no clients.claim()): Firefox was seen to lose a request that was on its way to
// the network when the worker took the page over. The worker answers from the next visit on.
async function removeOlder(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
  );
}

async function fromCache(url: string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(url);
}

async function answer(request: Request, url: string): Promise<Response> {
  if (isImmutable(url)) return isolated((await fromCache(url)) ?? (await fetch(request)));
  try {
    return isolated(await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) }));
  } catch (error) {
    const cached = await fromCache(url);
    if (cached) return isolated(cached);
    throw error;
  }
}

function isolated(response: Response): Response {
  if (response.type === 'opaqueredirect' || response.status === 304) return response;
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

worker.addEventListener('install', (event) => event.waitUntil(precache()));
worker.addEventListener('activate', (event) => event.waitUntil(removeOlder()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const plain = origin + pathname;
  const url = plain === `${ROOT}index.html` ? ROOT : plain;
  if (request.method === 'GET' && LISTED.has(url)) event.respondWith(answer(request, url));
});

// SPDX-License-Identifier: MIT
// One model from the network into a store. Nothing is believed before it is whole: status, kind of body, announced
// length, length received and magic are checked, and only then does the store write its manifest. Whatever goes
// wrong, what was written is discarded and a typed error is thrown. (Resuming comes later: the store then keeps a
// journal of verified ranges instead of discarding.)

import { createError, isAbortError, LayerstreamError, messageOf } from '../errors.js';
import { hasMagic } from '../storage/checks.js';
import { ggufMagic, type ModelStore, type ModelWriter, type PartInfo } from '../storage/model-store.js';
import { partUrls } from './parts.js';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface DownloadProgress {
  loadedBytes: number;
  /** 0 while unknown. */
  totalBytes: number;
}

export interface DownloadOptions {
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  onProgress?: (progress: DownloadProgress) => void;
  fetch?: Fetch;
  /** navigator.storage.estimate where there is one. */
  estimate?: () => Promise<StorageEstimate>;
}

/** Bytes of one write: the file systems are fastest at 1 MiB and more. */
const writeBytes = 2 << 20;
const progressIntervalMs = 50;

interface Announced {
  /** null: the server does not say. */
  bytes: number | null;
  etag: string | null;
}

function networkError(code: 'network_failed' | 'http_status' | 'bad_body' | 'length_mismatch') {
  return (message: string, details: Record<string, unknown>, cause?: unknown): LayerstreamError =>
    createError(code, message, { details, cause });
}
const failed = networkError('network_failed');
const badStatus = networkError('http_status');
const badBody = networkError('bad_body');
const badLength = networkError('length_mismatch');

async function request(url: string, method: 'GET' | 'HEAD', options: DownloadOptions): Promise<Response> {
  const send: Fetch = options.fetch ?? ((target, init) => fetch(target, init));
  try {
    return await send(url, { method, headers: { ...options.headers }, signal: options.signal });
  } catch (error) {
    options.signal.throwIfAborted();
    throw isAbortError(error)
      ? error
      : failed(`${url} cannot be reached: ${messageOf(error)}`, { url }, error);
  }
}

/** Throws unless the response can be a model. */
function checkResponse(response: Response, url: string): Announced {
  const { status, headers } = response;
  if (!response.ok || status === 206) {
    throw badStatus(`${url} was answered with status ${status}`, { url, status });
  }
  const contentType = headers.get('content-type') ?? '';
  if (/^\s*(text\/html|application\/(xhtml\+xml|json))\b/i.test(contentType)) {
    throw badBody(`${url} is not a model: the server sent ${contentType}`, { url, status, contentType });
  }
  // With a content encoding the length is that of the compressed bytes.
  const encoded = (headers.get('content-encoding') ?? 'identity') !== 'identity';
  const length = headers.get('content-length');
  const bytes = encoded || length === null ? null : Number(length);
  if (bytes !== null && !Number.isSafeInteger(bytes)) {
    throw badLength(`${url}: the announced length is "${length}"`, { url, announced: length });
  }
  return { bytes, etag: headers.get('etag') };
}

/** Throws storage_quota if `neededBytes` more will not fit. An estimate that fails proves nothing. */
async function checkQuota(neededBytes: number, options: DownloadOptions): Promise<void> {
  const estimate = await options.estimate?.().catch(() => undefined);
  const { quota, usage } = estimate ?? {};
  if (quota === undefined || usage === undefined || quota - usage >= neededBytes) {
    return;
  }
  const availableBytes = Math.max(0, quota - usage);
  throw createError(
    'storage_quota',
    `the model needs ${neededBytes} bytes of storage, the browser grants this site ${availableBytes} more`,
    { details: { neededBytes, availableBytes, quotaBytes: quota, usageBytes: usage } },
  );
}

/** Sums up what arrived over all parts, and reports it at most every 50 ms; what arrived last before a stall as well. */
class Progress {
  readonly #report: ((progress: DownloadProgress) => void) | undefined;
  #last = 0;
  #later: ReturnType<typeof setTimeout> | undefined;
  loadedBytes = 0;
  totalBytes = 0;

  constructor(report: ((progress: DownloadProgress) => void) | undefined) {
    this.#report = report;
  }

  add(bytes: number): void {
    this.loadedBytes += bytes;
    const wait = this.#last + progressIntervalMs - Date.now();
    if (wait <= 0) {
      this.flush();
    } else {
      this.#later ??= setTimeout(() => this.flush(), wait);
    }
  }

  flush(): void {
    this.stop();
    this.#last = Date.now();
    const { loadedBytes, totalBytes } = this;
    this.#report?.({ loadedBytes, totalBytes });
  }

  /** Nothing is reported later any more. */
  stop(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
  }
}

/** Collects small chunks into writes of `writeBytes`; looks at the first four bytes before anything is written. */
class PartSink {
  readonly #buffer = new Uint8Array(writeBytes);
  readonly #write: (offset: number, data: Uint8Array) => Promise<void>;
  readonly #url: string;
  #filled = 0;
  #written = 0;

  constructor(url: string, write: (offset: number, data: Uint8Array) => Promise<void>) {
    this.#url = url;
    this.#write = write;
  }

  get bytes(): number {
    return this.#written + this.#filled;
  }

  async push(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length;) {
      const count = Math.min(chunk.length - done, writeBytes - this.#filled);
      this.#buffer.set(chunk.subarray(done, done + count), this.#filled);
      this.#filled += count;
      done += count;
      if (this.#filled === writeBytes) {
        await this.flush();
      }
    }
  }

  async flush(): Promise<void> {
    const data = this.#buffer.subarray(0, this.#filled);
    if (this.#written === 0 && !hasMagic(data)) {
      throw createError('bad_magic', `${this.#url} does not begin with ${ggufMagic}: it is not a GGUF file`, {
        details: { url: this.#url },
      });
    }
    await this.#write(this.#written, data);
    this.#written += this.#filled;
    this.#filled = 0;
  }
}

async function receive(
  response: Response,
  url: string,
  announced: Announced,
  sink: PartSink,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  if (response.body === null) {
    throw badBody(`${url} was answered without a body`, { url });
  }
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal.throwIfAborted();
        throw failed(
          `the connection to ${url} broke after ${sink.bytes} of ${announced.bytes ?? 'an unknown number of'} bytes`,
          { url, receivedBytes: sink.bytes, announcedBytes: announced.bytes },
          error,
        );
      });
      signal.throwIfAborted();
      if (done) {
        break;
      }
      if (announced.bytes !== null && sink.bytes + value.length > announced.bytes) {
        throw badLength(`${url} sends more than the ${announced.bytes} bytes it announced`, {
          url,
          announcedBytes: announced.bytes,
        });
      }
      await sink.push(value);
      progress.add(value.length);
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error;
  }
  if (announced.bytes !== null && sink.bytes !== announced.bytes) {
    throw badLength(`${url} ended after ${sink.bytes} of ${announced.bytes} bytes`, {
      url,
      receivedBytes: sink.bytes,
      announcedBytes: announced.bytes,
    });
  }
  await sink.flush();
}

/** Sizes of all parts before the first byte is stored; null where a server does not say. */
async function announcedSizes(urls: readonly string[], options: DownloadOptions): Promise<(number | null)[]> {
  const sizes: (number | null)[] = [];
  for (const url of urls) {
    const response = await request(url, 'HEAD', options);
    // Some servers refuse HEAD: the GET will tell.
    sizes.push(response.ok ? checkResponse(response, url).bytes : null);
  }
  return sizes;
}

/** Downloads every part of `url` into the store, which then holds the complete model. */
export async function downloadModel(store: ModelStore, url: string, options: DownloadOptions): Promise<void> {
  const { signal } = options;
  signal.throwIfAborted();
  const urls = partUrls(url);
  const progress = new Progress(options.onProgress);
  const sizes: (number | null)[] = urls.length > 1 ? await announcedSizes(urls, options) : [];
  const sumOfSizes = (): number =>
    sizes.includes(null) ? 0 : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);

  let writer: ModelWriter | null = null;
  try {
    const parts: PartInfo[] = [];
    for (const [index, partUrl] of urls.entries()) {
      const response = await request(partUrl, 'GET', options);
      try {
        const announced = checkResponse(response, partUrl);
        sizes[index] = announced.bytes;
        progress.totalBytes = sumOfSizes();
        if (writer === null) {
          await checkQuota(progress.totalBytes, options);
          writer = await store.create(url);
        }
        const into = writer;
        const sink = new PartSink(partUrl, (offset, data) => into.write(index, offset, data));
        await receive(response, partUrl, announced, sink, progress, signal);
        parts.push({ url: partUrl, bytes: sink.bytes, etag: announced.etag });
      } catch (error) {
        await response.body?.cancel().catch(() => undefined);
        throw error;
      }
    }
    progress.totalBytes = progress.loadedBytes;
    progress.flush();
    await writer?.complete(parts);
  } catch (error) {
    await writer?.discard().catch(() => undefined);
    throw error;
  } finally {
    progress.stop();
  }
}

// SPDX-License-Identifier: MIT
// A local HTTP server that serves bytes well or badly, and counts what it is asked.

import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

export class ModelServer {
  readonly #server: http.Server;
  readonly #answers = new Map<string, Answer>();
  /** "GET /path" of every request, in order. */
  readonly requests: string[] = [];
  lastHeaders: http.IncomingHttpHeaders = {};

  private constructor() {
    this.#server = http.createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url}`);
      this.lastHeaders = request.headers;
      const answer = this.#answers.get(request.url ?? '');
      if (answer === undefined) {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
        return;
      }
      answer(request, response);
    });
  }

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  on(path: string, answer: Answer): string {
    this.#answers.set(path, answer);
    return this.url(path);
  }

  breakConnections(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** All of `bytes`, in pieces of `piece`. */
export function whole(bytes: Uint8Array, headers: http.OutgoingHttpHeaders = {}, piece = 65_536): Answer {
  return (request, response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': bytes.length,
      etag: '"abc"',
      ...headers,
    });
    for (let at = 0; request.method !== 'HEAD' && at < bytes.length; at += piece) {
      response.write(bytes.subarray(at, at + piece));
    }
    response.end();
  };
}

/** Announces all of `bytes`, sends `sent` of them, then breaks the connection. */
export function broken(bytes: Uint8Array, sent: number): Answer {
  return (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, sent), () => setTimeout(() => response.socket?.destroy(), 20));
  };
}

/** Sends `sent` bytes, then nothing more. */
export function stalled(bytes: Uint8Array, sent: number): Answer {
  return (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, sent));
  };
}

export interface RangedOptions {
  etag?: string | null;
  lastModified?: string;
  headers?: http.OutgoingHttpHeaders;
  /** Bytes per second of all answers together. */
  bytesPerSecond?: number;
  /** What goes wrong with the n-th request (from 1): an answer of its own, or the number of bytes after which it breaks. */
  fault?: (request: number, range: { first: number; last: number } | null) => Answer | number | null;
}

/** A server that knows ranges, as most do. Counts what it sends. */
export class RangedFile {
  bytes: Uint8Array;
  readonly options: RangedOptions;
  requests = 0;
  sentBytes = 0;
  /** Of each byte: how often it was sent. */
  readonly timesSent: Uint8Array;
  readonly ranges: { first: number; last: number }[] = [];
  mostAtOnce = 0;
  #open = 0;
  #nextFreeMs = 0;

  constructor(bytes: Uint8Array, options: RangedOptions = {}) {
    this.bytes = bytes;
    this.options = options;
    this.timesSent = new Uint8Array(bytes.length);
  }

  readonly answer: Answer = (request, response) => {
    this.requests += 1;
    const { etag = '"v1"', lastModified, headers = {}, fault } = this.options;
    const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const condition = request.headers['if-range'];
    const holds = condition === undefined || condition === etag || condition === lastModified;
    const size = this.bytes.length;
    const range =
      asked === null || !holds
        ? null
        : { first: Number(asked[1]), last: Math.min(Number(asked[2] || size - 1), size - 1) };
    const wrong = fault?.(this.requests, range) ?? null;
    if (typeof wrong === 'function') {
      wrong(request, response);
      return;
    }
    if (range !== null && range.first >= size) {
      response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
      return;
    }
    const { first, last } = range ?? { first: 0, last: size - 1 };
    this.ranges.push({ first, last });
    response.writeHead(range === null ? 200 : 206, {
      'content-type': 'application/octet-stream',
      'content-length': last - first + 1,
      ...(range === null ? {} : { 'content-range': `bytes ${first}-${last}/${size}` }),
      ...(etag === null ? {} : { etag }),
      ...(lastModified === undefined ? {} : { 'last-modified': lastModified }),
      ...headers,
    });
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    response.once('close', () => (this.#open -= 1));
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    void this.#send(response, first, last, wrong ?? Infinity);
  };

  async #send(response: http.ServerResponse, first: number, last: number, breakAfter: number): Promise<void> {
    const piece = 65_536;
    const closed = new Promise<false>((resolve) => response.once('close', () => resolve(false)));
    const end = Math.min(last + 1, first + breakAfter);
    for (let at = first; at < end && !response.destroyed; at += piece) {
      const to = Math.min(at + piece, end);
      await this.#turn(to - at);
      const flushed = new Promise<boolean>((resolve) =>
        response.write(this.bytes.subarray(at, to), (error) => resolve(!error)),
      );
      if (await Promise.race([flushed, closed])) {
        this.sentBytes += to - at;
        this.timesSent.subarray(at, to).forEach((times, byte) => (this.timesSent[at + byte] = times + 1));
      }
    }
    if (end <= last) {
      setTimeout(() => response.socket?.destroy(), 10);
    } else {
      response.end();
    }
  }

  async #turn(bytes: number): Promise<void> {
    const { bytesPerSecond } = this.options;
    if (bytesPerSecond !== undefined) {
      const now = performance.now();
      this.#nextFreeMs = Math.max(now, this.#nextFreeMs) + (bytes / bytesPerSecond) * 1000;
      await new Promise((resolve) => setTimeout(resolve, this.#nextFreeMs - now));
    }
  }
}

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

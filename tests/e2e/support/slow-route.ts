// SPDX-License-Identifier: MIT
// A server that sends a file's first bytes at once and the rest drop by drop, until it is told to hurry. It knows ranges.

import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Route } from './server.js';

export interface SlowRoute {
  route: Route;
  /** From now on everything is sent at once, what is on its way too. */
  hurry(): void;
  /** Breaks off what is on its way. */
  cut(): void;
}

/** Enough to keep the page told, and the connection alive. */
const DROP_BYTES = 1000;
const DROP_EVERY_MS = 100;

/** The first `quickBytes` of the file go out at once. */
export function slowRoute(file: string, quickBytes: number): SlowRoute {
  const bytes = readFileSync(file);
  const rush: (() => void)[] = [];
  const open = new Set<ServerResponse>();
  let isQuick = false;

  const route: Route = (request, response) => {
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    const end = to ? Math.min(Number(to) + 1, bytes.length) : bytes.length;
    response.writeHead(from === undefined ? 200 : 206, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': end - start,
      ...(from === undefined ? {} : { 'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}` }),
      'Accept-Ranges': 'bytes',
      ETag: '"slow"',
    });
    if (request.method === 'HEAD' || isQuick) {
      response.end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end));
      return;
    }
    let at = start;
    const send = (until: number): void => {
      const next = Math.min(until, end);
      response.write(bytes.subarray(at, next));
      at = next;
      if (at < end) return;
      clearInterval(drops);
      response.end();
    };
    const drops = setInterval(() => send(at + DROP_BYTES), DROP_EVERY_MS);
    open.add(response);
    response.on('close', () => clearInterval(drops));
    send(Math.max(start, quickBytes));
    rush.push(() => {
      if (at < end) send(end);
    });
  };
  return {
    route,
    hurry() {
      isQuick = true;
      for (const send of rush) send();
    },
    cut() {
      for (const response of open) response.destroy();
    },
  };
}

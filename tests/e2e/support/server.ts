// SPDX-License-Identifier: MIT
// The server of `npm start`, on a free port, with what tests need besides: the list of requests, a switch that closes
// the model route, routes of the test's own.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { pathToFileURL } from 'node:url';
import { DEMO, DIST, GOLDEN, MODELS, inRepository } from './repository.js';

interface RequestRecord {
  method: string;
  url: string;
  range?: string;
}

interface StaticServer {
  server: Server;
  requests: RequestRecord[];
  listen(port?: number, host?: string): Promise<{ port: number; url: string }>;
  close(): Promise<void>;
}

interface StaticServerModule {
  createStaticServer(options: {
    root: string;
    headers?: Record<string, string | undefined>;
    extraRoots?: Record<string, string>;
    intercept?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  }): StaticServer;
}

export type Route = (request: IncomingMessage, response: ServerResponse) => void;

export interface DemoServer {
  url: string;
  requests: RequestRecord[];
  /** Requests for this path, in order. */
  hits(path: string): RequestRecord[];
  /** While true every request below /models/ breaks off. */
  modelsClosed: boolean;
  /** Answers of the test's own, by path. */
  routes: Map<string, Route>;
  close(): Promise<void>;
}

/** isolated: false leaves out the headers that make the page cross-origin isolated. */
export async function startServer({ isolated = true } = {}): Promise<DemoServer> {
  const url = pathToFileURL(inRepository('scripts', 'lib', 'static-server.mjs')).href;
  const { createStaticServer } = (await import(url)) as StaticServerModule;
  const routes = new Map<string, Route>();
  const state = { modelsClosed: false };

  const server = createStaticServer({
    root: DEMO,
    extraRoots: { '/models/': MODELS, '/dist/': DIST, '/golden/': GOLDEN },
    headers: isolated
      ? {}
      : { 'Cross-Origin-Opener-Policy': undefined, 'Cross-Origin-Embedder-Policy': undefined },
    intercept(request, response) {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      const route = routes.get(pathname);
      if (route) {
        route(request, response);
        return true;
      }
      if (state.modelsClosed && pathname.startsWith('/models/')) {
        response.destroy();
        return true;
      }
      return false;
    },
  });
  const listening = await server.listen(0);
  return {
    url: listening.url,
    requests: server.requests,
    hits: (path) =>
      server.requests.filter((request) => new URL(request.url, 'http://localhost').pathname === path),
    get modelsClosed() {
      return state.modelsClosed;
    },
    set modelsClosed(closed: boolean) {
      state.modelsClosed = closed;
    },
    routes,
    close: () => server.close(),
  };
}

// SPDX-License-Identifier: MIT
// Servers of the fixture apps: static files under the strict content security policy that docs/hosting.md promises is
// enough, and Vite's dev server.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MODELS, inRepository } from '../../e2e/support/repository.js';

export const APPS = inRepository('build', 'package-apps');

const STRICT_POLICY =
  "default-src 'self'; img-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";

export interface AppServer {
  url: string;
  /** Requests the server saw; of a dev server none are known. */
  paths(): string[];
  close(): Promise<void>;
}

interface StaticServer {
  requests: { url: string }[];
  listen(port: number): Promise<{ url: string }>;
  close(): Promise<void>;
}
interface StaticServerModule {
  createStaticServer(options: {
    root: string;
    headers: Record<string, string | undefined>;
    extraRoots: Record<string, string>;
  }): StaticServer;
}

/** The production build of an app. `policy: false`: without a content security policy. */
export async function serveBuilt(app: string, isolated: boolean, { policy = true } = {}): Promise<AppServer> {
  const file = inRepository('scripts', 'lib', 'static-server.mjs');
  const { createStaticServer } = (await import(pathToFileURL(file).href)) as StaticServerModule;
  const headers: Record<string, string | undefined> = {
    'Content-Security-Policy': policy ? STRICT_POLICY : undefined,
  };
  if (!isolated) {
    headers['Cross-Origin-Opener-Policy'] = undefined;
    headers['Cross-Origin-Embedder-Policy'] = undefined;
  }
  const root = path.join(APPS, 'dist', app);
  const server = createStaticServer({ root, headers, extraRoots: { '/models/': MODELS } });
  const { url } = await server.listen(0);
  return {
    url,
    paths: () => server.requests.map((request) => new URL(request.url, url).pathname),
    close: () => server.close(),
  };
}

/** Vite's dev server on the sources. */
export async function serveByViteDev(isolated: boolean): Promise<AppServer> {
  const vite = inRepository('node_modules', 'vite', 'bin', 'vite.js');
  const env = { ...process.env, ISOLATED: isolated ? '1' : '0', NO_COLOR: '1' };
  const child = spawn(process.execPath, [vite, APPS, '--port', '0', '--host', '127.0.0.1'], { env });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`the dev server ended: ${output}`)));
  });
  return {
    url,
    paths: () => [],
    close: async () => {
      child.kill();
      await ended;
    },
  };
}

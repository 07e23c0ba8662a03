// SPDX-License-Identifier: MIT
// Builds the chat page into build/demo. The page knows the package only by its name: `layerstream` is the built
// package (dist/), so what is tested here is what is published. Models are not bundled: the server (and vite's dev
// server, whose root is this folder) offers demo/models under /models/.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Tells the service worker which files the page consists of; models are none of them. */
const precacheList = {
  name: 'precache-list',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const worker = bundle['sw.js'];
    const hash = createHash('sha256');
    const files = [];
    const add = (name, content) => {
      hash.update(`${name}\0`).update(content).update('\0');
      files.push(name === 'index.html' ? './' : name);
    };
    for (const name of Object.keys(bundle).sort()) {
      if (name !== 'sw.js') add(name, bundle[name].code ?? bundle[name].source);
    }
    for (const name of readdirSync(here('public'), { recursive: true }).sort()) {
      if (path.extname(name) !== '') add(name, readFileSync(here(`public/${name}`)));
    }
    const list = JSON.stringify({ version: hash.digest('hex').slice(0, 16), files });
    worker.code = worker.code.replace('PRECACHE_LIST', () => list);
  },
};

export default defineConfig({
  root: here('.'),
  base: './',
  plugins: [precacheList],
  resolve: { alias: { layerstream: here('../dist/index.js') } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    outDir: here('../build/demo'),
    emptyOutDir: true,
    // wasm as a data: URL would need a looser content security policy, and could not be compiled while it streams in.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { index: here('index.html'), sw: here('src/offline/service-worker.ts') },
      // The service worker's address stays, and decides what it is responsible for.
      output: { entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
  server: { headers: isolation, fs: { allow: [here('..')] } },
  preview: { headers: isolation },
});

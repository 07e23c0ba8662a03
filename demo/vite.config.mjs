// SPDX-License-Identifier: MIT
// Builds the chat page into build/demo. The page knows the package only by its name: `layerstream` is the built
// package (dist/), so what is tested here is what is published. Models are not bundled: the server (and vite's dev
// server, whose root is this folder) offers demo/models under /models/.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  root: here('.'),
  base: './',
  resolve: { alias: { layerstream: here('../dist/index.js') } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    outDir: here('../build/demo'),
    emptyOutDir: true,
    // wasm as a data: URL would need a looser content security policy, and could not be compiled while it streams in.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { headers: isolation, fs: { allow: [here('..')] } },
  preview: { headers: isolation },
});

// SPDX-License-Identifier: MIT
// `npm run dev`: like `npm start`, and builds again whenever a source changes; reload the page to see it.
import { existsSync, watch } from 'node:fs';
import { buildPart, START_PARTS } from './build.mjs';
import { log } from './lib/log.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { serveDemo } from './lib/serve.mjs';
import { setUp } from './setup.mjs';

const WATCHED = ['engine', 'wasm_bindings', 'web', 'demo', 'cmake'];
const QUIET_MS = 300; // an editor writes several times

main(async () => {
  const emscripten = await setUp();
  const build = async () => {
    for (const part of START_PARTS) await buildPart(part, emscripten);
  };
  await build();
  await serveDemo();

  let timer;
  let running = Promise.resolve();
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(build).then(
        () => log('up to date'),
        (error) => log(error.message),
      );
    }, QUIET_MS);
  };
  for (const folder of WATCHED.map((name) => inRoot(name)).filter(existsSync)) {
    watch(folder, { recursive: true }, changed);
  }
});

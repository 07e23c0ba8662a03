// SPDX-License-Identifier: MIT
// `npm start`: sets up, builds and serves the demo. Ends with Ctrl-C.
import { buildPart, START_PARTS } from './build.mjs';
import { main } from './lib/main.mjs';
import { serveDemo } from './lib/serve.mjs';
import { setUp } from './setup.mjs';

main(async () => {
  const emscripten = await setUp();
  for (const part of START_PARTS) await buildPart(part, emscripten);
  await serveDemo();
});

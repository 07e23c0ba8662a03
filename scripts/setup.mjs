// SPDX-License-Identifier: MIT
// Everything a fresh machine lacks, in order. `node scripts/setup.mjs [--tests]` runs it alone; `npm start` and
// `npm test` call it first. With nothing to do it takes about a second.
import { pathToFileURL } from 'node:url';
import { log } from './lib/log.mjs';
import { main } from './lib/main.mjs';
import { setUpEmscripten } from './lib/setup-emscripten.mjs';
import { setUpNpmPackages } from './lib/setup-npm.mjs';
import { BUILD_NEEDS, ensureSystemPackages, TEST_NEEDS } from './lib/setup-system.mjs';

/** `system`: names from scripts/lib/setup-system.mjs. Returns the Emscripten found: { version, root, env }. */
export async function setUp(system = BUILD_NEEDS) {
  await ensureSystemPackages(system);
  await setUpNpmPackages();
  const emscripten = await setUpEmscripten();
  log(`set-up is complete (Emscripten ${emscripten.version}, node ${process.versions.node})`);
  return emscripten;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main(() => setUp(process.argv.includes('--tests') ? TEST_NEEDS : BUILD_NEEDS));
}

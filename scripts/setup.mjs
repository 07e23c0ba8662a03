// SPDX-License-Identifier: MIT
// Everything a fresh machine lacks, in order. `node scripts/setup.mjs [--tests]` runs it alone; `npm start` and
// `npm test` call it first. With nothing to do it takes about a second.
import { pathToFileURL } from 'node:url';
import { log } from './lib/log.mjs';
import { main } from './lib/main.mjs';
import { setUpEmscripten } from './lib/setup-emscripten.mjs';
import { setUpNpmPackages } from './lib/setup-npm.mjs';
import {
  BUILD_NEEDS,
  ensureSystemPackages,
  MORE_BROWSERS,
  TEST_NEEDS,
  tryToEnsure,
} from './lib/setup-system.mjs';

/** What only the tests need: one browser, and more where they can be had. */
export async function setUpForTests() {
  const emscripten = await setUp(TEST_NEEDS);
  for (const browser of MORE_BROWSERS) await tryToEnsure(browser);
  return emscripten;
}

/** `system`: names from scripts/lib/setup-system.mjs. Returns the Emscripten found: { version, root, env }. */
export async function setUp(system = BUILD_NEEDS) {
  await ensureSystemPackages(system);
  await setUpNpmPackages();
  const emscripten = await setUpEmscripten();
  log(`set-up is complete (Emscripten ${emscripten.version}, node ${process.versions.node})`);
  return emscripten;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main(() => (process.argv.includes('--tests') ? setUpForTests() : setUp()));
}

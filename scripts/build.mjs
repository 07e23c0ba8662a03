// SPDX-License-Identifier: MIT
// Builds parts by name: CMake presets, `package` (dist/), `package-apps`, `demo` and `tests`.
//   npm run build                     what `npm start` needs
//   npm run build -- native-debug demo
// A second run with nothing changed takes about a second.
import { pathToFileURL } from 'node:url';
import { buildPreset } from './lib/build-cmake.mjs';
import { buildDemo, buildPackage, buildTests } from './lib/build-web.mjs';
import { buildPackageApps } from './lib/build-package-apps.mjs';
import { main } from './lib/main.mjs';
import { MODULES_PRESET } from './lib/wasm-modules.mjs';
import { setUp } from './setup.mjs';

export const START_PARTS = ['native-release', MODULES_PRESET, 'package', 'demo'];

const WEB_PARTS = {
  package: buildPackage,
  'package-apps': buildPackageApps,
  demo: buildDemo,
  tests: buildTests,
};

/** Builds one part; throws a Failure with the compiler's output. */
export async function buildPart(part, emscripten) {
  await (WEB_PARTS[part]?.() ?? buildPreset(part, emscripten));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main(async () => {
    const parts = process.argv.slice(2);
    const emscripten = await setUp();
    for (const part of parts.length > 0 ? parts : START_PARTS) await buildPart(part, emscripten);
  });
}

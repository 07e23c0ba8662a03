// SPDX-License-Identifier: MIT
// `npm run check`: the quick subset for daily work: format, types, rooms and the native tests.
// Every part runs even if an earlier one fails; the last line says which did.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildPart } from './build.mjs';
import { Failure } from './lib/failure.mjs';
import { step } from './lib/log.mjs';
import { main } from './lib/main.mjs';
import { binDir, inRoot } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { BUILD_NEEDS } from './lib/setup-system.mjs';
import { clearResults, SUITES } from './lib/suites.mjs';
import { setUp } from './setup.mjs';

const TYPED = ['web/tsconfig.json', 'demo/tsconfig.json', 'tests/tsconfig.json'];

const format = () => run('npm', ['run', '--silent', 'format:check']);

async function types() {
  for (const project of TYPED.filter((file) => existsSync(inRoot(file)))) {
    await run(path.join(binDir, 'tsc'), ['--noEmit', '-p', project]);
  }
}

async function suite(name, emscripten) {
  const { failed } = await SUITES.find((candidate) => candidate.name === name).run(emscripten);
  if (failed.length > 0) throw new Failure(failed.join('\n'));
}

main(async () => {
  const emscripten = await setUp([...BUILD_NEEDS, 'gtest']);
  clearResults();
  const parts = {
    format,
    types,
    rooms: () => suite('rooms', emscripten),
    'native tests': async () => {
      await buildPart('native-debug', emscripten);
      await suite('native', emscripten);
    },
  };
  const broken = [];
  for (const [name, work] of Object.entries(parts)) {
    await step(`check ${name}`, work).catch((error) => {
      console.error(error.message);
      broken.push(name);
    });
  }
  if (broken.length > 0) throw new Failure(`check failed: ${broken.join(', ')}`);
});

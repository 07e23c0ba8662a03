// SPDX-License-Identifier: MIT
// `npm run release:check`: everything a release needs, on the tarball that would be published. Ends with the list of its files.
//   the working tree is clean, the version is in CHANGELOG.md, modules and package are built from it, every suite that
//   looks at the package passes (types, sizes, bundlers, node, opcodes), documentation can be made
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildPart } from './build.mjs';
import { APPS_DIR } from './lib/build-package-apps.mjs';
import { Failure } from './lib/failure.mjs';
import { log, step } from './lib/log.mjs';
import { main } from './lib/main.mjs';
import { binDir, buildDir, inRoot } from './lib/paths.mjs';
import { ask, run } from './lib/run.mjs';
import { TEST_NEEDS } from './lib/setup-system.mjs';
import { clearResults, SUITES } from './lib/suites.mjs';
import { setUp } from './setup.mjs';

const CHECKED = ['rooms', 'generated', 'jest', 'opcodes', 'package'];

function checkTree() {
  const changed = ask('git', ['-C', inRoot(), 'status', '--porcelain']);
  if (changed) throw new Failure(`there are changes that are not committed:\n${changed}`);
  const { version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  if (!readFileSync(inRoot('CHANGELOG.md'), 'utf8').includes(`## ${version}`))
    throw new Failure(`CHANGELOG.md says nothing about ${version}`);
}

/** Folders of the package with their sizes, then the large files. */
function listContents() {
  const installed = path.join(APPS_DIR, 'node_modules/layerstream');
  const tarball = readdirSync(APPS_DIR).find((name) => name.endsWith('.tgz'));
  log(`${tarball}: ${statSync(path.join(APPS_DIR, tarball)).size} bytes`);
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const folders = new Map();
  for (const { parentPath, name } of files) {
    const folder = path.relative(installed, parentPath) || '.';
    const bytes = readFileSync(path.join(parentPath, name));
    const total = folders.get(folder) ?? { files: 0, bytes: 0, gzip: 0 };
    total.files += 1;
    total.bytes += bytes.length;
    total.gzip += gzipSync(bytes, { level: 9 }).length;
    folders.set(folder, total);
  }
  for (const [folder, { files: count, bytes, gzip }] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1)))
    log(`  ${folder}: ${count} files, ${bytes} bytes, ${gzip} compressed`);
}

main(async () => {
  checkTree();
  const emscripten = await setUp(TEST_NEEDS);
  clearResults();
  const suites = SUITES.filter(({ name }) => CHECKED.includes(name));
  for (const part of new Set(suites.flatMap(({ needs }) => needs))) await buildPart(part, emscripten);
  const failed = [];
  for (const suite of suites) {
    const results = await suite.run(emscripten);
    failed.push(...results.failed.map((test) => `${suite.name}: ${test}`));
  }
  await step('documentation', () =>
    run(path.join(binDir, 'typedoc'), ['--out', path.join(buildDir, 'docs')]),
  );
  listContents();
  if (failed.length > 0) throw new Failure(`not ready:\n${failed.join('\n')}`);
  log('ready to publish');
});

// SPDX-License-Identifier: MIT
// The npm packages: installed from the lock file, and only when it or node changed since the last time.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from './paths.mjs';
import { fingerprint } from './stamp.mjs';
import { step } from './log.mjs';
import { run } from './run.mjs';

export async function setUpNpmPackages() {
  // Inside node_modules, so that removing the folder removes the stamp with it.
  const stamp = inRoot('node_modules', '.layerstream-stamp');
  const wanted = fingerprint(
    [inRoot('package-lock.json')],
    [process.version, process.platform, process.arch],
  );
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  await step('npm packages (npm ci)', (note) => run('npm', ['ci', '--include=dev'], { note }));
  writeFileSync(stamp, wanted);
}

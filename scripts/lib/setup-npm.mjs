// SPDX-License-Identifier: MIT
// The npm packages: installed from the lock file, and only when it or node changed since the last time.
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { Failure } from './failure.mjs';
import { inRoot } from './paths.mjs';
import { fingerprint } from './stamp.mjs';
import { step } from './log.mjs';
import { run } from './run.mjs';

/** `npm ci` empties the folder first: through a link it would empty another checkout's. */
export function refuseLink(folder) {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Failure(`${folder} is a symbolic link, and npm would empty what it names; remove the link`);
  }
}

export async function setUpNpmPackages() {
  // Inside node_modules, so that removing the folder removes the stamp with it.
  const stamp = inRoot('node_modules', '.layerstream-stamp');
  const wanted = fingerprint(
    [inRoot('package-lock.json')],
    [process.version, process.platform, process.arch],
  );
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  refuseLink(inRoot('node_modules'));
  await step('npm packages (npm ci)', (note) => run('npm', ['ci', '--include=dev'], { note }));
  writeFileSync(stamp, wanted);
}

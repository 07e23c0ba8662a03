// SPDX-License-Identifier: MIT
// Where things are. Everything built lies under build/ and dist/; what is shared between checkouts (the
// Emscripten we unpack) lies in the user's cache folder.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const inRoot = (...parts) => path.join(root, ...parts);
export const buildDir = inRoot('build');
export const distDir = inRoot('dist');
export const binDir = inRoot('node_modules', '.bin');

export const cacheDir = () =>
  path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'layerstream');

/** Full path of `program` on the given PATH, or null. */
export function findProgram(program, searchPath = process.env.PATH ?? '') {
  for (const folder of searchPath.split(path.delimiter)) {
    const file = path.join(folder, program);
    if (folder && existsSync(file)) return file;
  }
  return null;
}

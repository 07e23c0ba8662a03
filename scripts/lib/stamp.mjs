// SPDX-License-Identifier: MIT
// "Has anything changed since the last time?" A stamp file holds a hash over names, sizes and contents of the
// inputs; it is written after the work succeeded, so an interrupted step runs again.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildDir, root } from './paths.mjs';

const IGNORED = new Set(['node_modules', 'build', 'dist', '.git']);

/** All files below a folder (or the file itself), sorted; missing paths give nothing. */
export function listFiles(start, { skip = () => false } = {}) {
  if (!existsSync(start) || skip(start)) return [];
  if (statSync(start).isFile()) return [start];
  return readdirSync(start)
    .filter((name) => !IGNORED.has(name))
    .sort()
    .flatMap((name) => listFiles(path.join(start, name), { skip }));
}

/** Hash of files and of plain strings (versions, options). */
export function fingerprint(files, extra = []) {
  const hash = createHash('sha256');
  for (const text of extra) hash.update(`${text}\0`);
  for (const file of files)
    hash
      .update(`${path.relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

export const stampFile = (name) => path.join(buildDir, 'stamps', name);

export const isFresh = (name, value) =>
  existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === value;

export function writeStamp(name, value) {
  mkdirSync(path.dirname(stampFile(name)), { recursive: true });
  writeFileSync(stampFile(name), value);
}

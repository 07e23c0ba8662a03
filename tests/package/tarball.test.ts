// SPDX-License-Identifier: MIT
// What is in the tarball, and how it is described: nothing that does not belong, entries and types that every resolver finds,
// sizes within the budget.

import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { inRepository } from '../e2e/support/repository.js';
import { APPS } from './support/app-server.js';

const INSTALLED = path.join(APPS, 'node_modules', 'layerstream');

/** Output of a tool of node_modules; rejects, with its output, when it ends with another status than 0. */
async function tool(name: string, ...args: string[]): Promise<string> {
  const program = inRepository('node_modules', '.bin', name);
  try {
    const { stdout } = await promisify(execFile)(program, args, { cwd: inRepository() });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${name} found something:\n${stdout}${stderr}`, { cause: error });
  }
}

function tarball(): string {
  const found = readdirSync(APPS).filter((name) => name.endsWith('.tgz'));
  expect(found).toHaveLength(1);
  return path.join(APPS, found[0] ?? '');
}

test('the apps find the package that was packed, not this checkout', async () => {
  const ask = ['--input-type=module', '--eval', `console.log(import.meta.resolve('layerstream'))`];
  const { stdout } = await promisify(execFile)(process.execPath, ask, { cwd: APPS });
  expect(stdout.trim()).toBe(pathToFileURL(path.join(INSTALLED, 'dist', 'index.js')).href);
});

test('publint has nothing to say', async () => {
  await tool('publint', 'run', tarball(), '--strict');
});

test('are the types wrong? No, in no way of resolving that knows modules', async () => {
  // A service worker is served, not imported: it has no types.
  const options = ['--profile', 'esm-only', '--exclude-entrypoints', 'isolation-service-worker.js'];
  await tool('attw', tarball(), ...options);
});

test('what a page downloads is within the budget of .size-limit.json', async () => {
  const results = JSON.parse(await tool('size-limit', '--json')) as { passed: boolean; size: number }[];
  expect(results).toHaveLength(7);
  expect(results.filter(({ passed }) => !passed)).toEqual([]);
  for (const { size } of results) expect(size).toBeGreaterThan(10_000); // the globs found files
});

test('the tarball holds the built package and its papers, and installs nothing else', () => {
  const files = readdirSync(INSTALLED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(INSTALLED, path.join(entry.parentPath, entry.name)));
  expect(files.filter((file) => !file.startsWith('dist/')).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD_PARTY.md',
    'package.json',
  ]);
  expect(files.filter((file) => !/\.(js|mjs|wasm|d\.ts|d\.mts|md|json)$|LICENSE$/.test(file))).toEqual([]);
  expect(files.filter((file) => file.endsWith('.wasm'))).toHaveLength(4);
  const description = JSON.parse(readFileSync(path.join(INSTALLED, 'package.json'), 'utf8')) as object;
  expect(description).not.toHaveProperty('dependencies');
  expect(description).toMatchObject({ peerDependenciesMeta: { '@ai-sdk/provider': { optional: true } } });
});

test('every module of the package imports only files of the package, node, or types', () => {
  const scripts = readdirSync(path.join(INSTALLED, 'dist'), { recursive: true, encoding: 'utf8' });
  const foreign = scripts
    .filter((file) => file.endsWith('.js') && !file.endsWith('jinja.js'))
    .flatMap((file) => {
      const text = readFileSync(path.join(INSTALLED, 'dist', file), 'utf8');
      const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^'.\n][^'\n]*)'/g)].map(
        (match) => match[1],
      );
      return targets.filter((target) => !target?.startsWith('node:')).map((target) => `${file}: ${target}`);
    });
  expect(foreign).toEqual([]);
});

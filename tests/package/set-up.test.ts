// SPDX-License-Identifier: MIT
// `npm ci` empties node_modules before it fills it: through a link it would empty another checkout's.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRepository } from '../e2e/support/repository.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-set-up-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('set-up refuses a node_modules that is a symbolic link, also one that leads nowhere', async () => {
  const file = pathToFileURL(inRepository('scripts', 'lib', 'setup-npm.mjs')).href;
  const { refuseLink } = (await import(file)) as { refuseLink(folder: string): void };
  const modules = path.join(folder, 'node_modules');
  expect(() => refuseLink(modules)).not.toThrow();
  mkdirSync(modules);
  expect(() => refuseLink(modules)).not.toThrow();
  for (const target of [modules, path.join(folder, 'gone')]) {
    const link = path.join(folder, `link-to-${path.basename(target)}`);
    symlinkSync(target, link);
    expect(() => refuseLink(link)).toThrow('symbolic link');
  }
});

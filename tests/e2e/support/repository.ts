// SPDX-License-Identifier: MIT
// Where things are in the checkout, found from the compiled test by walking up to the package's own package.json.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const file = path.join(folder, 'package.json');
    if (existsSync(file) && readFileSync(file, 'utf8').includes('"name": "layerstream"')) return folder;
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('these tests must run inside the repository');
    folder = parent;
  }
}

const root = findRoot();

export const inRepository = (...parts: string[]): string => path.join(root, ...parts);

export const DEMO = inRepository('build', 'demo');
/** Reference cases: the whole set where the common material is, else those of the repository. */
const sharedGolden = inRepository('..', 'shared', 'golden');
export const GOLDEN = existsSync(sharedGolden) ? sharedGolden : inRepository('tests', 'golden', 'cases');
/** The package. */
export const DIST = inRepository('dist');
export const MODELS = inRepository('demo', 'models');
export const MODEL_FILE = 'tinychat-q8_0.gguf';
export const MODEL_PATH = path.join(MODELS, 'tinychat', MODEL_FILE);
/** Where the server offers the default model. */
export const MODEL_ROUTE = `/models/tinychat/${MODEL_FILE}`;
export const SCREENSHOTS = inRepository('build', 'screenshots');

// SPDX-License-Identifier: MIT
// `layerstream/node`: the same engine on a local file, in a worker thread. One thread computes.

import { fileURLToPath } from 'node:url';
import { createApi } from '../api/package-api.js';
import type { LoadOptions, Model } from '../api/types.js';
import { createError, messageOf } from '../errors.js';
import { LocalFile } from './local-file.js';
import { nodeHost } from './node-host.js';

const api = createApi(nodeHost);

/** All parts of the model whose first part this is. */
function partPaths(path: string): string[] {
  const split = /^(.*-)00001(-of-(\d{5})\.gguf)$/.exec(path);
  if (split === null) {
    return [path];
  }
  const [, before = '', after = '', count = '1'] = split;
  return Array.from(
    { length: Number(count) },
    (_, index) => `${before}${String(index + 1).padStart(5, '0')}${after}`,
  );
}

/**
 * Opens a GGUF file of this machine: a path, or a file URL; the first part of a split model stands for all. The weights are
 * read from the file as the memory budget asks. The model is the one that `loadModel` of the package gives; dispose of it,
 * or the process goes on.
 *
 * @example
 * const model = await loadModel('./tinychat-q8_0.gguf');
 * console.log(await model.chat([{ role: 'user', content: 'Hello!' }]).text());
 * await model.dispose();
 */
export async function loadModel(source: string | URL, options?: LoadOptions): Promise<Model> {
  const path = source instanceof URL ? fileURLToPath(source) : source;
  let files: LocalFile[];
  try {
    files = await Promise.all(partPaths(path).map((part) => LocalFile.at(part)));
  } catch (error) {
    throw createError('io_failed', `${path} cannot be opened: ${messageOf(error)}`, {
      details: { path },
      cause: error,
    });
  }
  return api.loadModel(files, options);
}

export * from '../index.js';

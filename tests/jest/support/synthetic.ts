// SPDX-License-Identifier: MIT
// Generated models of the benchmarks (tests/bench/lib/synthetic-model.mjs), for tests.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRoot } from './paths.js';

export interface ModelChanges {
  layers?: number;
  vocab?: number;
  /** The weights, or those of the blocks, are a hole in the file. */
  sparse?: boolean | 'blocks';
  suffix?: string;
}

/** Writes FOLDER/NAME.gguf, NAME being "shape-QUANT", and returns its path. */
export async function writeSynthetic(
  folder: string,
  name: string,
  changes: ModelChanges = {},
): Promise<string> {
  const { writeModel } = await import(pathToFileURL(inRoot('tests/bench/lib/synthetic-model.mjs')).href);
  return path.resolve(writeModel(folder, name, changes));
}

// SPDX-License-Identifier: MIT
// Opens or plans a model from its headers alone: each part's prefix grows until the engine has seen the whole header.

import { createError } from '../errors.js';
import { Engine } from '../engine/module.js';
import type { LayerstreamModule } from '../engine/module-types.js';
import type { EngineSettings } from '../protocol/data.js';
import type { WeightSource } from './weight-source.js';

/** Holds the header of a small model; a large vocabulary needs a second read. */
const firstPrefixBytes = 1 << 20;

export interface OpenOptions {
  partBytes: readonly number[];
  settings: EngineSettings;
  signal: AbortSignal;
  onHeader?: (bytes: number) => void;
}

export async function openEngine(
  module: LayerstreamModule,
  source: WeightSource,
  options: OpenOptions,
): Promise<Engine> {
  return withHeaders(module, source, options, (engine) => {
    engine.open(options.settings);
    return engine;
  });
}

/** The engine knows the headers, but no model is open in it. To be disposed by `use` or its caller. */
export async function withHeaders<T>(
  module: LayerstreamModule,
  source: WeightSource,
  { partBytes, signal, onHeader }: OpenOptions,
  use: (engine: Engine) => T | Promise<T>,
): Promise<T> {
  const engine = new Engine(module);
  try {
    for (const [part, fileBytes] of partBytes.entries()) {
      await readHeader(engine, source, part, fileBytes, signal, onHeader);
    }
    const announced = engine.partCount;
    if (announced !== partBytes.length) {
      throw createError(
        'bad_file',
        `the model has ${announced} parts, ${partBytes.length} were given: name the first part ` +
          '("-00001-of-0000N.gguf"), or pick all files',
        { details: { announcedParts: announced, givenParts: partBytes.length } },
      );
    }
    return await use(engine);
  } catch (error) {
    engine.dispose();
    throw error;
  }
}

async function readHeader(
  engine: Engine,
  source: WeightSource,
  part: number,
  fileBytes: number,
  signal: AbortSignal,
  onHeader: ((bytes: number) => void) | undefined,
): Promise<void> {
  for (let bytes = Math.min(firstPrefixBytes, fileBytes); ;) {
    const prefix = await source.read([{ part, offset: 0, bytes }]);
    signal.throwIfAborted();
    const needed = engine.addPart(part, prefix, fileBytes);
    source.recycle(prefix);
    onHeader?.(bytes);
    if (needed === 0) {
      return;
    }
    if (needed <= bytes || needed > fileBytes) {
      throw createError(
        'truncated',
        `the header of part ${part} needs ${needed} bytes, the file has ${fileBytes}`,
        {
          details: { part, neededBytes: needed, fileBytes },
        },
      );
    }
    // At least doubling keeps the number of reads small, whatever the engine asks for.
    bytes = Math.min(Math.max(needed, bytes * 2), fileBytes);
  }
}

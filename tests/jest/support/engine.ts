// SPDX-License-Identifier: MIT
// The real wasm module in node, and a source of weights over a file that can delay and fail.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { Engine } from '#web/engine/module.js';
import { loadModule } from '#web/engine/load-module.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import type { EngineSettings, Extent } from '#web/protocol/data.js';
import { EventLoop } from '#web/worker/event-loop.js';
import { openEngine } from '#web/worker/open-engine.js';
import { PassRunner } from '#web/worker/pass-runner.js';
import type { WeightSource } from '#web/worker/weight-source.js';
import { never, pause } from './assertions.js';
import { wasmFile } from './paths.js';

export function loadTestModule(): Promise<LayerstreamModule> {
  return loadModule({ build: 'single-simd', threads: 1 }, { wasmBinary: readFileSync(wasmFile) });
}

export class FileSource implements WeightSource {
  readonly #fd: number;
  readonly fileBytes: number;
  /** Extents asked for, batch by batch. */
  readonly batches: Extent[][] = [];
  inFlight = 0;
  maxDelayMs = 0;
  /** Throws at this batch (counted from 1). */
  failAtBatch = Infinity;

  constructor(file: string) {
    this.#fd = openSync(file, 'r');
    this.fileBytes = fstatSync(this.#fd).size;
  }

  async read(extents: readonly Extent[]): Promise<Uint8Array> {
    this.batches.push([...extents]);
    const number = this.batches.length;
    this.inFlight += 1;
    try {
      // Later batches may be done before earlier ones.
      await (this.maxDelayMs > 0
        ? pause(((number * 7919) % 13) * (this.maxDelayMs / 13))
        : Promise.resolve());
      if (number === this.failAtBatch) {
        throw new Error(`batch ${number} failed`);
      }
      const bytes = new Uint8Array(extents.reduce((sum, extent) => sum + extent.bytes, 0));
      let at = 0;
      for (const extent of extents) {
        at += readSync(this.#fd, bytes, at, extent.bytes, extent.offset);
      }
      return bytes;
    } finally {
      this.inFlight -= 1;
    }
  }

  recycle(bytes: Uint8Array): void {
    bytes.fill(0xee); // whoever still looks at it shall notice
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export const defaultSettings: EngineSettings = {
  build: 'single-simd',
  threads: 1,
  contextLength: 512,
  budgetBytes: -1,
  kvType: 'f32',
  attention: 'trained',
  unitBytes: 0,
  preTokenizer: '',
};

export interface OpenedEngine {
  engine: Engine;
  runner: PassRunner;
  source: FileSource;
  close(): Promise<void>;
}

export async function openFile(
  module: LayerstreamModule,
  file: string,
  settings: Partial<EngineSettings> = {},
): Promise<OpenedEngine> {
  const source = new FileSource(file);
  const engine = await openEngine(module, source, {
    partBytes: [source.fileBytes],
    settings: { ...defaultSettings, ...settings },
    signal: never(),
  });
  const loop = new EventLoop();
  const runner = new PassRunner(engine, source, loop);
  return {
    engine,
    runner,
    source,
    close: async () => {
      await runner.settle();
      engine.dispose();
      loop.close();
      source.close();
    },
  };
}

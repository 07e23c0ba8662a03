// SPDX-License-Identifier: MIT
// tinychat, loaded through the whole package in one process.

import { afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { LoadOptions, Model } from '#web/api/types.js';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { loadTestModule } from './engine.js';
import { tinychatFile } from './paths.js';
import { TestHost } from './test-host.js';

export interface Loaded {
  /** One more model of the same file; all are gone after each test. */
  load(options?: LoadOptions): Promise<Model>;
}

/** Call once per file. */
export function useTinychat(): Loaded {
  let module: LayerstreamModule;
  let host: TestHost;
  const file = new File([readFileSync(tinychatFile)], 'tinychat.gguf');
  beforeAll(async () => {
    module = await loadTestModule();
  });
  beforeEach(() => {
    host = new TestHost('http://localhost/', async () => module);
  });
  afterEach(async () => {
    await host.close();
    expect(module.liveEngines()).toBe(0);
  });
  return { load: (options) => host.api.loadModel(file, options) };
}

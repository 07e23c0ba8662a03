// SPDX-License-Identifier: MIT
// Entry of the engine's worker thread.

import { readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { loadModule, type ModuleChoice } from '../engine/load-module.js';
import type { LayerstreamModule } from '../engine/module-types.js';
import { Dispatcher } from '../protocol/dispatcher.js';
import type { EngineMethods } from '../protocol/methods.js';
import { EngineService } from '../worker/engine-service.js';

/** Node's fetch does not read files. */
async function loadFromDisk(choice: ModuleChoice): Promise<LayerstreamModule> {
  const wasmBinary = await readFile(new URL(`../wasm/layerstream-${choice.build}.wasm`, import.meta.url));
  return loadModule(choice, { wasmBinary });
}

if (parentPort !== null) {
  const service = new EngineService({ loadModule: loadFromDisk, holdLock: async () => false });
  new Dispatcher<EngineMethods>(parentPort, service.handlers);
}

// SPDX-License-Identifier: MIT
// What the four modules that Emscripten emits have in common.

import type { LayerstreamModule } from '../engine/module-types.js';

export interface ModuleOptions {
  /** The bytes of the .wasm file; without them it is fetched from beside the module. */
  wasmBinary?: ArrayBuffer | Uint8Array;
  /** Of the builds with threads: the shared memory. */
  wasmMemory?: WebAssembly.Memory;
  /** Of the builds with threads: workers that exist when the module is ready. */
  poolSize?: number;
}

declare const createModule: (options?: ModuleOptions) => Promise<LayerstreamModule>;
export default createModule;

// SPDX-License-Identifier: MIT
// Types of the Emscripten module that the build puts beside this file's output (dist/wasm/).

import type { LayerstreamModule } from '../engine/module-types.js';

export interface ModuleOptions {
  /** The bytes of the .wasm file; without them it is fetched from beside the module. */
  wasmBinary?: ArrayBuffer | Uint8Array;
}

declare const createModule: (options?: ModuleOptions) => Promise<LayerstreamModule>;
export default createModule;

// SPDX-License-Identifier: MIT
// The wasm modules of the package: with a thread pool or without, with the relaxed integer dot product or without. One CMake
// preset builds all of them from shared objects. The page chooses (web/src/api/choose-engine.ts).
import path from 'node:path';
import { buildDir } from './paths.mjs';

export const MODULES_PRESET = 'wasm-modules';
export const MODULES_DIR = path.join(buildDir, MODULES_PRESET);

export const WASM_MODULES = ['single-simd', 'single-relaxed', 'threads-simd', 'threads-relaxed'];

/** Where a module is; add `.mjs`, `.wasm`, `.d.ts` or `.mjs.symbols`. */
export const modulePath = (module) => path.join(MODULES_DIR, `layerstream-${module}`);

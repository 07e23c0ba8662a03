// SPDX-License-Identifier: MIT
// Gets the wasm module. Specifiers are literal, so that bundlers find the files.
// Later: four builds ({single, threads} x {simd, relaxed}), chosen here by what the browser can do.

import { createError, messageOf } from '../errors.js';
import type { LayerstreamModule } from './module-types.js';

export async function loadModule(options: { wasmBinary?: Uint8Array } = {}): Promise<LayerstreamModule> {
  try {
    const { default: create } = await import('../wasm/layerstream-single-simd.mjs');
    return await create(options);
  } catch (error) {
    throw createError('worker_crashed', `the engine could not be started: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

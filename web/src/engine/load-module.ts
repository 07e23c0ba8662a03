// SPDX-License-Identifier: MIT
// Gets one of the four wasm modules. Specifiers are literal, so that bundlers find the files.

import { createError, messageOf } from '../errors.js';
import type { EngineBuild } from '../protocol/data.js';
import type { ModuleOptions } from '../wasm/emitted.js';
import type { LayerstreamModule } from './module-types.js';

type CreateModule = (options?: ModuleOptions) => Promise<LayerstreamModule>;

const imports: Readonly<Record<EngineBuild, () => Promise<{ default: CreateModule }>>> = {
  'single-simd': () => import('../wasm/layerstream-single-simd.mjs'),
  'single-relaxed': () => import('../wasm/layerstream-single-relaxed.mjs'),
  'threads-simd': () => import('../wasm/layerstream-threads-simd.mjs'),
  'threads-relaxed': () => import('../wasm/layerstream-threads-relaxed.mjs'),
};

export interface ModuleChoice {
  build: EngineBuild;
  /** Threads that compute, the worker's own included. */
  threads: number;
}

export async function loadModule(
  { build, threads }: ModuleChoice,
  options: { wasmBinary?: Uint8Array } = {},
): Promise<LayerstreamModule> {
  const threaded = build.startsWith('threads-') ? { wasmMemory: sharedMemory(), poolSize: threads - 1 } : {};
  try {
    const { default: create } = await imports[build]();
    return await create({ ...options, ...threaded });
  } catch (error) {
    throw createError('worker_crashed', `the engine (${build}) failed to start: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const pageBytes = 65536;
/** As -sINITIAL_MEMORY of wasm_bindings/CMakeLists.txt. */
const initialPages = 32;
/** Below 64 MiB no model worth a pool of threads runs. */
const smallestMaximum = 1024;

/** Shared, as far as this device lets it grow: the maximum is reserved when it is made, and phones refuse 4 GiB. */
function sharedMemory(): WebAssembly.Memory {
  let refusal: unknown = null;
  for (let maximum = 65536; maximum >= smallestMaximum; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: initialPages, maximum, shared: true });
    } catch (error) {
      refusal = error;
    }
  }
  throw createError(
    'out_of_memory',
    `no shared memory of ${smallestMaximum * pageBytes} bytes: ${messageOf(refusal)}`,
    {
      cause: refusal,
    },
  );
}

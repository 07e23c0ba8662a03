// SPDX-License-Identifier: MIT
// The surface that Emscripten emits for the module is the one web/src/engine/module-types.ts writes out. Compiled only.

import type { Engine as EmittedEngine, MainModule } from '#web/wasm/layerstream-single-simd.js';
import type { LayerstreamModule, NativeEngine } from '#web/engine/module-types.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type EmbindString = ArrayBuffer | Uint8Array | Uint8ClampedArray | Int8Array | string;

/** Emitted types say what a string parameter accepts also for strings that are returned. */
type Plain<T> =
  Equal<T, EmbindString> extends true
    ? string
    : T extends (...parameters: infer P) => infer R
      ? (...parameters: { [K in keyof P]: Plain<P[K]> }) => Plain<R>
      : T extends object
        ? { [K in keyof T]: Plain<T[K]> }
        : T;

type PlainEngine = Plain<Pick<EmittedEngine, keyof NativeEngine & keyof EmittedEngine>>;

export const engineFits = (emitted: PlainEngine): NativeEngine => emitted;
export const moduleFits = (
  emitted: Omit<Plain<Pick<MainModule, 'liveEngines' | 'errorCodes' | 'buildInfo'>>, never> &
    Pick<MainModule, 'HEAPU8'> & { Engine: LayerstreamModule['Engine'] },
): LayerstreamModule => emitted;

const nothingIsLeftOut: Equal<Exclude<keyof EmittedEngine, keyof NativeEngine | keyof Rest>, never> = true;
void nothingIsLeftOut;
/** What every Embind object has. */
interface Rest {
  isAliasOf: unknown;
  deleteLater: unknown;
  isDeleted: unknown;
  clone: unknown;
  [Symbol.dispose]: unknown;
}

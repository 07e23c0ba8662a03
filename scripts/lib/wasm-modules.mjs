// SPDX-License-Identifier: MIT
// The wasm modules of the package (CMake presets): with a thread pool or without, with the relaxed integer dot product or
// without. The page chooses (web/src/api/choose-engine.ts).
export const WASM_MODULES = [
  'wasm-single-simd',
  'wasm-single-relaxed',
  'wasm-threads-simd',
  'wasm-threads-relaxed',
];

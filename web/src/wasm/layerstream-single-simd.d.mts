// SPDX-License-Identifier: MIT
// Types of the Emscripten module that the build puts beside this file's output (dist/wasm/).

export { default } from './emitted.js';

// SPDX-License-Identifier: MIT
// Where things lie, seen from the compiled tests (build/tests-js/jest/support/).

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../..', import.meta.url));
export const inRoot = (...parts: string[]): string => path.join(root, ...parts);

export const wasmFile = inRoot('dist/wasm/layerstream-single-simd.wasm');
export const tinychatFile = inRoot('demo/models/tinychat/tinychat-q8_0.gguf');
export const tinychatChats = inRoot('demo/models/tinychat/chats.json');
export const nativeProgram = inRoot('build/native-release/engine/layerstream');

/** A file of the common test data beside the repository; null in a clone alone. */
export function shared(...parts: string[]): string | null {
  const file = inRoot('..', 'shared', ...parts);
  return existsSync(file) ? file : null;
}

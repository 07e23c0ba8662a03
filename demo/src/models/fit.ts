// SPDX-License-Identifier: MIT
// Whether a model suits this device, before a byte of it is there: from its size, what is free on disk and what a tab
// may take.

import { formatBytes } from '../ui/format.js';

/** What loadModel takes by default. */
const MEMORY_BYTES = 2 * 2 ** 30;
/** Beside weights: the program and the conversation of a small model. */
const OTHER_BYTES = 250e6;

export interface Fit {
  kind: 'resident' | 'streams' | 'too-large';
  words: string;
}

/** `freeBytes`: null if the browser does not say. */
export function fitOf(bytes: number, freeBytes: number | null): Fit {
  if (freeBytes !== null && bytes > freeBytes) {
    return { kind: 'too-large', words: `too large for this disk: ${formatBytes(freeBytes)} free` };
  }
  if (bytes + OTHER_BYTES <= MEMORY_BYTES) return { kind: 'resident', words: 'runs from memory' };
  return { kind: 'streams', words: 'streams from disk' };
}

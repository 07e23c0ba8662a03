// SPDX-License-Identifier: MIT
// What extras.ts loads: one module, because every further one makes pieces of what it shares with the others.

export { checkWhole } from '../download/verify.js';
export { openFiles } from '../storage/blob-reader.js';
export { MemoryBackend } from '../storage/memory-folder.js';
export { drainRing } from './drain-ring.js';
export { newDownload, openLive } from './open-live.js';
export { TabTurns } from './tab-turns.js';
export { exportPart, importFiles, verify } from './whole-models.js';

// SPDX-License-Identifier: MIT
// Chooses the store of this browser: the origin's file system, or memory with the reason why.

import { messageOf } from '../errors.js';
import type { StoreBackend } from './folder.js';
import { ModelStore } from './model-store.js';
import { OpfsBackend } from './opfs-folder.js';

export interface ChosenStore {
  store: ModelStore;
  /** Why models are kept in memory; null for the file system. */
  reason: string | null;
}

/** Weights kept in memory, at most; what is beyond is fetched when it is needed. */
const memoryLimitBytes = 2 ** 30;

/** `memory`: makes a store of so many bytes, where files cannot be. */
export async function openStore(
  storage: StorageManager | undefined,
  memory: (limitBytes: number) => Promise<StoreBackend>,
): Promise<ChosenStore> {
  const inMemory = async (reason: string): Promise<ChosenStore> => ({
    store: new ModelStore(await memory(memoryLimitBytes)),
    reason,
  });
  if (typeof storage?.getDirectory !== 'function') {
    return inMemory('this browser gives pages no file system');
  }
  try {
    return { store: new ModelStore(await OpfsBackend.open(await storage.getDirectory())), reason: null };
  } catch (error) {
    // Private windows of Firefox and Safari, blocked site data.
    return inMemory(`the browser's file system is closed to us: ${messageOf(error)}`);
  }
}

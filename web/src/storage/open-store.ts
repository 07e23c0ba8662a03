// SPDX-License-Identifier: MIT
// Chooses the store of this browser: the origin's file system, or memory with the reason why.

import { messageOf } from '../errors.js';
import { MemoryStore } from './memory-store.js';
import type { ModelStore } from './model-store.js';
import { OpfsStore } from './opfs-store.js';

export interface ChosenStore {
  store: ModelStore;
  /** Why models are kept in memory; null for the file system. */
  reason: string | null;
}

export async function openStore(storage: StorageManager | undefined): Promise<ChosenStore> {
  if (typeof storage?.getDirectory !== 'function') {
    return { store: new MemoryStore(), reason: 'this browser gives pages no file system' };
  }
  try {
    return { store: await OpfsStore.open(await storage.getDirectory()), reason: null };
  } catch (error) {
    // Private windows of Firefox and Safari, blocked site data.
    return {
      store: new MemoryStore(),
      reason: `the browser's file system is closed to us: ${messageOf(error)}`,
    };
  }
}

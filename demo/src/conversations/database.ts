// SPDX-License-Identifier: MIT
// Conversations in this browser's IndexedDB, by id. Nothing else is kept there.

import { openDB } from 'idb';
import type { DBSchema, IDBPDatabase } from 'idb';
import type { FinishReason, GenerationStats } from 'layerstream';

export interface StoredTurn {
  role: 'user' | 'assistant';
  text: string;
  finish?: FinishReason;
  stats?: GenerationStats;
}

export interface StoredConversation {
  id: string;
  title: string;
  named: boolean;
  systemPrompt: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
  /** Messages and answers in turn. */
  turns: StoredTurn[];
}

interface Schema extends DBSchema {
  conversations: { key: string; value: StoredConversation };
}

export type Database = IDBPDatabase<Schema>;

export function openDatabase(): Promise<Database> {
  return openDB<Schema>('layerstream-chat', 1, {
    upgrade(database) {
      database.createObjectStore('conversations', { keyPath: 'id' });
    },
    // A newer page in another tab wants to change the database: let it.
    blocking(_current, _blocked, event) {
      if (event.target instanceof IDBDatabase) event.target.close();
    },
  });
}

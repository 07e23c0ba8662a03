// SPDX-License-Identifier: MIT
// What a store needs of its file system: folders of files, opened for reading or for writing. Implementations: the
// origin's private file system (opfs-folder.ts) and memory (memory-folder.ts).

import type { StorageKind } from './store-types.js';

export type OpenMode = 'readwrite' | 'read-only';

/** One open file. Reads and writes are whole: shorter ones are errors. */
export interface ByteFile {
  /** Bytes read: fewer than asked for only at the end of the file. */
  read(into: Uint8Array, at: number): number | Promise<number>;
  /** `data` may be reused afterwards. */
  write(data: Uint8Array, at: number): void;
  size(): number;
  truncate(bytes: number): void;
  flush(): void;
  close(): void;
}

/** Errors are those of the File System API: names NoModificationAllowedError, QuotaExceededError, … */
export interface ModelFolder {
  names(): Promise<string[]>;
  /** null: there is no such file. */
  readBytes(name: string): Promise<Uint8Array | null>;
  writeText(name: string, text: string): Promise<void>;
  /** 'readwrite' creates, and is exclusive; 'read-only' is null for a file that is not there. */
  open(name: string, mode: OpenMode): Promise<ByteFile | null>;
  /** A slower way to read, also while somebody else has the only handle. */
  openBeside(name: string): Promise<ByteFile | null>;
  /** Nothing happens if it is not there. */
  remove(name: string): Promise<void>;
}

export interface StoreBackend {
  readonly kind: StorageKind;
  /** That a new model may take; Infinity where only the browser knows. */
  readonly freeBytes: number;
  names(): Promise<string[]>;
  /** null: not there, and not to be created. */
  folder(name: string, create: boolean): Promise<ModelFolder | null>;
  removeFolder(name: string): Promise<void>;
}

// SPDX-License-Identifier: MIT
// The part of the File System API that the store uses. The browser's own handles fit these shapes, and so does the
// fake over a folder of the disk that runs the same code in node (tests/jest/support/fake-opfs.ts).

export interface SyncHandle {
  read(into: Uint8Array, options: { at: number }): number;
  write(data: Uint8Array, options: { at: number }): number;
  truncate(bytes: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

export interface OpfsFile {
  readonly kind: 'file';
  getFile(): Promise<Blob>;
  /** Only in dedicated workers, and not in every browser. `mode` is ignored by some. */
  createSyncAccessHandle?(options?: { mode?: 'readwrite' | 'read-only' }): Promise<SyncHandle>;
}

export interface OpfsDirectory {
  readonly kind: 'directory';
  getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<OpfsDirectory>;
  getFileHandle(name: string, options?: { create?: boolean }): Promise<OpfsFile>;
  removeEntry(name: string, options?: { recursive?: boolean }): Promise<void>;
  keys(): AsyncIterable<string>;
}

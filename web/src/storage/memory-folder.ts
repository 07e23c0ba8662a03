// SPDX-License-Identifier: MIT
// Folders in this worker's memory: where the browser has no file system for us. Gone with the worker. Handles lock
// like those of the file system. Bytes are kept in chunks, so that a growing file never copies and a sparse one costs
// only what was written.

import type { ByteFile, ModelFolder, OpenMode, StoreBackend } from './folder.js';
import type { StorageKind } from './store-types.js';

const chunkBytes = 1 << 20;

interface Budget {
  leftBytes: number;
}

/** A growing byte string with holes of zeros. */
class ChunkedBytes {
  readonly #budget: Budget;
  readonly #chunks = new Map<number, Uint8Array>();
  length = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  write(offset: number, data: Uint8Array): void {
    this.#each(offset, data.length, (index, at, from, count) =>
      this.#writable(index).set(data.subarray(from, from + count), at),
    );
    this.length = Math.max(this.length, offset + data.length);
  }

  read(offset: number, into: Uint8Array): number {
    const bytes = Math.max(0, Math.min(into.length, this.length - offset));
    this.#each(offset, bytes, (index, at, from, count) => {
      const chunk = this.#chunks.get(index);
      if (chunk === undefined) {
        into.fill(0, from, from + count);
      } else {
        into.set(chunk.subarray(at, at + count), from);
      }
    });
    return bytes;
  }

  truncate(bytes: number): void {
    for (const [index, chunk] of this.#chunks) {
      if (index * chunkBytes >= bytes) {
        this.#chunks.delete(index);
        this.#budget.leftBytes += chunkBytes;
      } else {
        chunk.fill(0, Math.min(chunkBytes, bytes - index * chunkBytes));
      }
    }
    this.length = bytes;
  }

  #writable(index: number): Uint8Array {
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      if (this.#budget.leftBytes < chunkBytes) {
        throw new DOMException('the memory for models is used up', 'QuotaExceededError');
      }
      try {
        chunk = new Uint8Array(chunkBytes);
      } catch {
        throw new DOMException('the browser gives no more memory', 'QuotaExceededError');
      }
      this.#budget.leftBytes -= chunkBytes;
      this.#chunks.set(index, chunk);
    }
    return chunk;
  }

  #each(
    offset: number,
    length: number,
    visit: (chunk: number, at: number, from: number, count: number) => void,
  ): void {
    for (let from = 0; from < length;) {
      const at = (offset + from) % chunkBytes;
      const count = Math.min(chunkBytes - at, length - from);
      visit(Math.floor((offset + from) / chunkBytes), at, from, count);
      from += count;
    }
  }
}

interface MemoryFile {
  bytes: ChunkedBytes;
  /** Handles on it; -1 for an exclusive one. */
  handles: number;
}

function locked(name: string): DOMException {
  return new DOMException(`${name} is in use`, 'NoModificationAllowedError');
}

function openFile(file: MemoryFile, mode: OpenMode | 'beside'): ByteFile {
  if (mode === 'readwrite') {
    file.handles = -1;
  } else if (mode === 'read-only') {
    file.handles += 1;
  }
  let open = mode !== 'beside';
  return {
    read: (into, at) => file.bytes.read(at, into),
    write: (data, at) => file.bytes.write(at, data),
    size: () => file.bytes.length,
    truncate: (bytes) => file.bytes.truncate(bytes),
    flush: () => undefined,
    close: () => {
      if (open) {
        open = false;
        file.handles = mode === 'readwrite' ? 0 : file.handles - 1;
      }
    },
  };
}

class MemoryFolder implements ModelFolder {
  readonly files = new Map<string, MemoryFile>();
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  async names(): Promise<string[]> {
    return [...this.files.keys()];
  }

  async readBytes(name: string): Promise<Uint8Array | null> {
    const file = this.files.get(name);
    if (file === undefined) {
      return null;
    }
    const bytes = new Uint8Array(file.bytes.length);
    file.bytes.read(0, bytes);
    return bytes;
  }

  async writeText(name: string, text: string): Promise<void> {
    const file = this.#created(name);
    file.bytes.truncate(0);
    file.bytes.write(0, new TextEncoder().encode(text));
  }

  async open(name: string, mode: OpenMode): Promise<ByteFile | null> {
    const file = mode === 'readwrite' ? this.#created(name) : this.files.get(name);
    if (file === undefined) {
      return null;
    }
    if (file.handles < 0 || (file.handles > 0 && mode === 'readwrite')) {
      throw locked(name);
    }
    return openFile(file, mode);
  }

  async openBeside(name: string): Promise<ByteFile | null> {
    const file = this.files.get(name);
    return file === undefined ? null : openFile(file, 'beside');
  }

  async remove(name: string): Promise<void> {
    const file = this.files.get(name);
    if (file !== undefined && file.handles !== 0) {
      throw locked(name);
    }
    file?.bytes.truncate(0);
    this.files.delete(name);
  }

  #created(name: string): MemoryFile {
    let file = this.files.get(name);
    if (file === undefined) {
      file = { bytes: new ChunkedBytes(this.#budget), handles: 0 };
      this.files.set(name, file);
    }
    return file;
  }
}

export class MemoryBackend implements StoreBackend {
  readonly kind: StorageKind = 'memory';
  readonly #folders = new Map<string, MemoryFolder>();
  readonly #budget: Budget;

  /** All models together take at most `limitBytes`; a write beyond is a QuotaExceededError. */
  constructor(limitBytes = Infinity) {
    this.#budget = { leftBytes: limitBytes };
  }

  get freeBytes(): number {
    return this.#budget.leftBytes;
  }

  async names(): Promise<string[]> {
    return [...this.#folders.keys()];
  }

  async folder(name: string, create: boolean): Promise<ModelFolder | null> {
    let folder = this.#folders.get(name) ?? null;
    if (folder === null && create) {
      folder = new MemoryFolder(this.#budget);
      this.#folders.set(name, folder);
    }
    return folder;
  }

  async removeFolder(name: string): Promise<void> {
    const folder = this.#folders.get(name);
    for (const file of [...(folder?.files.keys() ?? [])]) {
      await folder?.remove(file);
    }
    this.#folders.delete(name);
  }
}

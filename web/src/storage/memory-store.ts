// SPDX-License-Identifier: MIT
// Models in this worker's memory: where the browser has no file system for us. Gone with the worker.
// Parts are kept in chunks, so that growing one never copies and never needs one huge allocation.

import { createError } from '../errors.js';
import { busy, checkExtent, checkStoredPart } from './checks.js';
import type {
  ModelReader,
  ModelStore,
  ModelWriter,
  PartInfo,
  StorageKind,
  StoredModel,
} from './model-store.js';

const chunkBytes = 8 << 20;

/** A growing byte string. */
export class ChunkedBytes {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Beyond the end the gap is zeros. */
  write(offset: number, data: Uint8Array): void {
    const end = offset + data.length;
    while (this.#chunks.length * chunkBytes < end) {
      try {
        this.#chunks.push(new Uint8Array(chunkBytes));
      } catch (error) {
        throw createError('out_of_memory', `no memory for ${end} bytes of a model`, {
          details: { neededBytes: end },
          cause: error,
        });
      }
    }
    this.#each(offset, data.length, (chunk, at, from, count) =>
      chunk.set(data.subarray(from, from + count), at),
    );
    this.#length = Math.max(this.#length, end);
  }

  read(offset: number, into: Uint8Array): void {
    this.#each(offset, into.length, (chunk, at, from, count) =>
      into.set(chunk.subarray(at, at + count), from),
    );
  }

  #each(
    offset: number,
    length: number,
    visit: (chunk: Uint8Array, at: number, from: number, count: number) => void,
  ): void {
    for (let from = 0; from < length;) {
      const at = (offset + from) % chunkBytes;
      const count = Math.min(chunkBytes - at, length - from);
      const chunk = this.#chunks[Math.floor((offset + from) / chunkBytes)];
      if (chunk !== undefined) {
        visit(chunk, at, from, count);
      }
      from += count;
    }
  }
}

interface StoredEntry {
  parts: ChunkedBytes[];
  complete: boolean;
  lastUsed: number;
  readers: number;
  writing: boolean;
}

export class MemoryStore implements ModelStore {
  readonly kind: StorageKind = 'memory';
  readonly #models = new Map<string, StoredEntry>();

  async list(): Promise<StoredModel[]> {
    return [...this.#models].map(([url, entry]) => ({
      url,
      bytes: entry.parts.reduce((sum, part) => sum + part.length, 0),
      complete: entry.complete,
      lastUsed: entry.lastUsed,
    }));
  }

  async open(url: string): Promise<ModelReader | null> {
    const entry = this.#models.get(url);
    if (entry?.complete !== true) {
      return null;
    }
    entry.readers += 1;
    entry.lastUsed = Date.now();
    const partBytes = entry.parts.map((part) => part.length);
    let open = true;
    return {
      kind: this.kind,
      partBytes,
      read: async (part, offset, into) => {
        checkExtent(part, offset, into.length, partBytes);
        entry.parts[part]?.read(offset, into);
      },
      close: async () => {
        entry.readers -= open ? 1 : 0;
        open = false;
      },
    };
  }

  async create(url: string): Promise<ModelWriter> {
    const before = this.#models.get(url);
    if (before !== undefined && (before.readers > 0 || before.writing)) {
      throw busy(url);
    }
    const entry: StoredEntry = {
      parts: [],
      complete: false,
      lastUsed: Date.now(),
      readers: 0,
      writing: true,
    };
    this.#models.set(url, entry);
    return {
      write: async (part, offset, data) => {
        while (entry.parts.length <= part) {
          entry.parts.push(new ChunkedBytes());
        }
        entry.parts[part]?.write(offset, data);
      },
      complete: async (parts: readonly PartInfo[]) => {
        parts.forEach((part, index) => {
          const stored = entry.parts[index];
          const head = new Uint8Array(4);
          stored?.read(0, head);
          checkStoredPart(part, stored?.length ?? 0, head);
        });
        entry.complete = true;
        entry.writing = false;
      },
      discard: async () => {
        entry.writing = false;
        if (this.#models.get(url) === entry) {
          this.#models.delete(url);
        }
      },
    };
  }

  async remove(url: string): Promise<boolean> {
    const entry = this.#models.get(url);
    if (entry !== undefined && (entry.readers > 0 || entry.writing)) {
      throw busy(url);
    }
    return this.#models.delete(url);
  }
}

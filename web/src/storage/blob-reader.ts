// SPDX-License-Identifier: MIT
// Reads parts in place from Files the user picked. Nothing is copied to the store. Slower than a sync access handle
// (docs/formats/store.md).

import { createError, messageOf } from '../errors.js';
import { checkExtent, checkMagic, shortRead } from './checks.js';
import type { ModelReader, StorageKind } from './store-types.js';

export class BlobReader implements ModelReader {
  readonly kind: StorageKind = 'file';
  readonly partBytes: readonly number[];
  readonly #parts: readonly Blob[];

  constructor(parts: readonly Blob[]) {
    this.#parts = parts;
    this.partBytes = parts.map((part) => part.size);
  }

  async read(part: number, offset: number, into: Uint8Array): Promise<void> {
    checkExtent(part, offset, into.length, this.partBytes);
    const blob = this.#parts[part];
    if (blob === undefined || into.length === 0) {
      return;
    }
    let bytes: ArrayBuffer;
    try {
      bytes = await blob.slice(offset, offset + into.length).arrayBuffer();
    } catch (error) {
      // Browsers refuse to read a File that changed on disk since it was picked.
      throw createError('io_failed', `the file could not be read (${messageOf(error)}): pick it again`, {
        details: { part, offset, bytes: into.length },
        cause: error,
      });
    }
    if (bytes.byteLength !== into.length) {
      throw shortRead(part, offset, into.length, bytes.byteLength);
    }
    into.set(new Uint8Array(bytes));
  }

  async close(): Promise<void> {}
}

/** Parts in the order of their numbers ("-00002-of-00003.gguf"); a single file as it is. */
export async function openFiles(files: readonly File[]): Promise<ModelReader> {
  const ordered = [...files].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  if (ordered.length === 0) {
    throw createError('bad_argument', 'no file was given');
  }
  const reader = new BlobReader(ordered);
  for (const [index, file] of ordered.entries()) {
    const head = new Uint8Array(Math.min(4, file.size));
    await reader.read(index, 0, head);
    checkMagic(head, file.name);
  }
  return reader;
}

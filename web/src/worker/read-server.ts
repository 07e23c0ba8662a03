// SPDX-License-Identifier: MIT
// Serves batches of reads into buffers that are transferred to the engine worker and come back with a later
// request, so that streaming a model makes no garbage.

import { createError } from '../errors.js';
import type { Handlers } from '../protocol/dispatcher.js';
import type { ReadMethods } from '../protocol/methods.js';
import type { ModelReader } from '../storage/model-store.js';

/** Buffers kept for reuse; an engine has few reads in flight. */
const maxPooled = 4;

export class ReadServer {
  readonly handlers: Handlers<ReadMethods>;
  readonly #pool: ArrayBuffer[] = [];

  constructor(readerOf: (modelId: number) => ModelReader | null) {
    this.handlers = {
      read: async ({ modelId, extents, recycled }, context) => {
        this.#recycle(recycled);
        const reader = readerOf(modelId);
        if (reader === null) {
          throw createError('io_failed', `model ${modelId} is not open`, { details: { modelId } });
        }
        const total = extents.reduce((sum, extent) => sum + extent.bytes, 0);
        const buffer = this.#take(total);
        try {
          let at = 0;
          for (const { part, offset, bytes } of extents) {
            await reader.read(part, offset, new Uint8Array(buffer, at, bytes));
            at += bytes;
          }
          context.signal.throwIfAborted();
        } catch (error) {
          this.#recycle([buffer]);
          throw error;
        }
        context.transfer(buffer);
        return { buffer };
      },
    };
  }

  #recycle(buffers: readonly ArrayBuffer[]): void {
    this.#pool.push(...buffers);
    this.#pool.sort((a, b) => a.byteLength - b.byteLength);
    this.#pool.splice(0, this.#pool.length - maxPooled);
  }

  /** The smallest pooled buffer that is large enough, but not wastefully so, or a new one. */
  #take(bytes: number): ArrayBuffer {
    const index = this.#pool.findIndex((buffer) => buffer.byteLength >= bytes);
    const found = index < 0 ? undefined : this.#pool[index];
    if (found !== undefined && found.byteLength <= Math.max(bytes * 4, 1 << 16)) {
      this.#pool.splice(index, 1);
      return found;
    }
    try {
      return new ArrayBuffer(bytes);
    } catch (error) {
      throw createError('out_of_memory', `no memory for a read of ${bytes} bytes`, {
        details: { neededBytes: bytes },
        cause: error,
      });
    }
  }
}

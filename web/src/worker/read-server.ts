// SPDX-License-Identifier: MIT
// Serves batches of reads: straight into the engine's memory where that is shared, otherwise into buffers that are
// transferred to the engine worker and come back with a later request, so that streaming a model makes no garbage.

import { createError } from '../errors.js';
import type { Extent, ReadRingMemory } from '../protocol/data.js';
import type { Handlers } from '../protocol/dispatcher.js';
import type { ReadMethods } from '../protocol/methods.js';
import type { ModelReader } from '../storage/store-types.js';
import { extras } from './extras.js';

/** Buffers kept for reuse; an engine has few reads in flight. */
const maxPooled = 4;

export interface ReadableModels {
  readerOf(modelId: number): ModelReader | null;
  setOrder(modelId: number, extents: readonly Extent[]): void;
}

export class ReadServer {
  readonly #models: ReadableModels;
  readonly #pool: ArrayBuffer[] = [];

  constructor(models: ReadableModels) {
    this.#models = models;
  }

  /** For one engine: it may share its memory. */
  handlers(): Handlers<ReadMethods> {
    const { readerOf, setOrder } = this.#models;
    let shared: WebAssembly.Memory | null = null;
    let ring: ReadRingMemory | null = null;
    const opened = (modelId: number): ModelReader => {
      const reader = readerOf(modelId);
      if (reader === null) {
        throw createError('io_failed', `model ${modelId} is not open`, { details: { modelId } });
      }
      return reader;
    };
    // The other end makes the memory grow; its buffer here may still be the shorter one of before.
    const grown = (bytes: number): ArrayBufferLike => {
      const memory = given(shared);
      if (memory.buffer.byteLength < bytes) {
        memory.grow(0); // looks again
      }
      return memory.buffer;
    };
    return {
      order: async ({ modelId, extents }) => {
        setOrder(modelId, extents);
        return null;
      },
      read: async ({ modelId, extents, recycled }, context) => {
        this.#recycle(recycled);
        const reader = opened(modelId);
        const total = extents.reduce((sum, extent) => sum + extent.bytes, 0);
        const buffer = this.#take(total);
        try {
          await readAll(reader, extents, buffer, endToEnd(extents), context.signal);
          context.signal.throwIfAborted();
        } catch (error) {
          this.#recycle([buffer]);
          throw error;
        }
        context.transfer(buffer);
        return { buffer };
      },
      drain: async ({ modelId }, { signal }) => {
        const { drainRing } = await extras();
        await drainRing(opened(modelId), grown, given(ring), signal);
        return null;
      },
      share: async (params) => {
        ({ memory: shared, ring } = params);
        return null;
      },
      readInto: async ({ modelId, extents, pointers }, { signal }) => {
        const end = extents.reduce((most, { bytes }, i) => Math.max(most, (pointers[i] ?? 0) + bytes), 0);
        await readAll(opened(modelId), extents, grown(end), pointers, signal);
        return null;
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

function given<T>(shared: T | null): T {
  if (shared === null) {
    throw createError('internal', 'no memory is shared with the storage worker');
  }
  return shared;
}

/** Where each of them begins when they lie one behind the other. */
function endToEnd(extents: readonly Extent[]): number[] {
  let at = 0;
  return extents.map(({ bytes }) => (at += bytes) - bytes);
}

/** Together, so that a download knows all that is wanted. None is under way any more when this settles. */
async function readAll(
  reader: ModelReader,
  extents: readonly Extent[],
  memory: ArrayBufferLike,
  pointers: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const reads = extents.map(async ({ part, offset, bytes }, i) =>
    reader.read(part, offset, new Uint8Array(memory, pointers[i], bytes), signal),
  );
  const failed = (await Promise.allSettled(reads)).find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
}

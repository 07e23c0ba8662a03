// SPDX-License-Identifier: MIT
// Where the engine worker gets bytes from: the storage worker over a port; in tests anything that reads.

import type { Client } from '../protocol/client.js';
import type { Extent, ReadRingMemory } from '../protocol/data.js';
import type { ReadMethods } from '../protocol/methods.js';

export interface WeightSource {
  /** All extents, one behind the other. Give the array back with recycle() when its bytes were copied. */
  read(extents: readonly Extent[], signal?: AbortSignal): Promise<Uint8Array>;
  recycle(bytes: Uint8Array): void;
  /** The same straight into the engine's memory, where the reader shares it. */
  readonly readInto?: ReadInto | undefined;
}

/** One address for each extent. When this settles nothing writes there any more, also after an abort. */
export type ReadInto = (
  extents: readonly Extent[],
  pointers: readonly number[],
  signal?: AbortSignal,
) => Promise<void>;

/** Firefox (ESR 153) now and then fails to hand a shared memory over a port. */
const shareAttempts = 5;

export class RemoteWeightSource implements WeightSource {
  readonly #client: Client<ReadMethods>;
  readonly #modelId: number;
  #readInto: ReadInto | undefined;
  #used: ArrayBuffer[] = [];

  constructor(client: Client<ReadMethods>, modelId: number) {
    this.#client = client;
    this.#modelId = modelId;
  }

  async read(extents: readonly Extent[], signal?: AbortSignal): Promise<Uint8Array> {
    const recycled = this.#used;
    this.#used = [];
    const { buffer } = await this.#client.call(
      'read',
      { modelId: this.#modelId, extents, recycled },
      { transfer: recycled, signal },
    );
    const total = extents.reduce((sum, extent) => sum + extent.bytes, 0);
    return new Uint8Array(buffer, 0, total);
  }

  get readInto(): ReadInto | undefined {
    return this.#readInto;
  }

  /** From now on there is readInto. */
  async share(memory: WebAssembly.Memory, ring: ReadRingMemory | null = null): Promise<void> {
    for (let attempt = 1; ; ++attempt) {
      try {
        await this.#client.call('share', { memory, ring });
        break;
      } catch (error) {
        if (attempt === shareAttempts || this.#client.isClosed) {
          throw error;
        }
      }
    }
    this.#readInto = async (extents, pointers, signal) => {
      const call = { modelId: this.#modelId, extents, pointers };
      await this.#client.call('readInto', call, { signal, untilServed: true });
    };
  }

  /** The reader lets go of the memory, which is only freed when nobody holds it. */
  unshare(): void {
    if (this.#readInto !== undefined) {
      this.#readInto = undefined;
      this.#client.call('share', { memory: null, ring: null }).catch(() => undefined);
    }
  }

  /** What a pass will read, in its order. Only advice: whether it arrives does not matter. */
  setOrder(extents: readonly Extent[]): void {
    this.#client.call('order', { modelId: this.#modelId, extents }).catch(() => undefined);
  }

  recycle(bytes: Uint8Array): void {
    if (bytes.buffer instanceof ArrayBuffer) {
      this.#used.push(bytes.buffer);
    }
  }
}

// SPDX-License-Identifier: MIT
// Where the engine worker gets bytes from: the storage worker over a port; in tests anything that reads.

import type { Client } from '../protocol/client.js';
import type { Extent } from '../protocol/data.js';
import type { ReadMethods } from '../protocol/methods.js';

export interface WeightSource {
  /** All extents, one behind the other. Give the array back with recycle() when its bytes were copied. */
  read(extents: readonly Extent[], signal?: AbortSignal): Promise<Uint8Array>;
  recycle(bytes: Uint8Array): void;
  /**
   * The same straight into memory that is shared with the reader, at one address for each extent. When this settles nothing
   * writes there any more, also after an abort.
   */
  readInto?(
    extents: readonly Extent[],
    memory: SharedArrayBuffer,
    pointers: readonly number[],
    signal?: AbortSignal,
  ): Promise<void>;
}

export class RemoteWeightSource implements WeightSource {
  readonly #client: Client<ReadMethods>;
  readonly #modelId: number;
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

  async readInto(
    extents: readonly Extent[],
    memory: SharedArrayBuffer,
    pointers: readonly number[],
    signal?: AbortSignal,
  ): Promise<void> {
    const call = { modelId: this.#modelId, extents, memory, pointers };
    await this.#client.call('readInto', call, { signal, untilServed: true });
  }

  /** What a pass will read, in its order. */
  async setOrder(extents: readonly Extent[]): Promise<void> {
    await this.#client.call('order', { modelId: this.#modelId, extents });
  }

  recycle(bytes: Uint8Array): void {
    if (bytes.buffer instanceof ArrayBuffer) {
      this.#used.push(bytes.buffer);
    }
  }
}

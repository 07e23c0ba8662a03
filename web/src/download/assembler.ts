// SPDX-License-Identifier: MIT
// Cuts the bytes that arrive into ranges. Owns one buffer of a range.

export class RangeAssembler {
  readonly #sizes: readonly number[];
  readonly #take: (index: number, data: Uint8Array) => Promise<void>;
  #buffer: Uint8Array | null = null;
  #index = 0;
  #filled = 0;
  #receivedBytes = 0;

  /** `sizes`: of the ranges to come, in order. `take` gets each when it is whole and keeps its bytes. */
  constructor(sizes: readonly number[], take: (index: number, data: Uint8Array) => Promise<void>) {
    this.#sizes = sizes;
    this.#take = take;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Of the range that is not whole yet. */
  get pendingBytes(): number {
    return this.#filled;
  }

  get isComplete(): boolean {
    return this.#index === this.#sizes.length;
  }

  /** Bytes beyond the last range are dropped: the caller counts. */
  async push(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length;) {
      const size = this.#sizes[this.#index];
      if (size === undefined) {
        return;
      }
      this.#buffer ??= new Uint8Array(size);
      const count = Math.min(chunk.length - done, size - this.#filled);
      this.#buffer.set(chunk.subarray(done, done + count), this.#filled);
      this.#filled += count;
      this.#receivedBytes += count;
      done += count;
      if (this.#filled === size) {
        const [index, whole] = [this.#index, this.#buffer];
        [this.#index, this.#buffer, this.#filled] = [index + 1, null, 0];
        await this.#take(index, whole);
      }
    }
  }
}

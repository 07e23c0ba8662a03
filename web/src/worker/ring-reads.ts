// SPDX-License-Identifier: MIT
// The engine worker's end of the ring: reads are asked for, and their bytes noticed, without a message. At two hundred reads
// a token, messages would cost as much processor time as half of the copying.

import type { ReadRequest } from '../engine/module.js';
import type { Client } from '../protocol/client.js';
import type { ReadRingMemory } from '../protocol/data.js';
import type { ReadMethods } from '../protocol/methods.js';
import type { ReadRing } from './pass-runner.js';

/** A power of two, so that counters may wrap; more than the rows of a pass and the units of a budget usually are. */
const capacity = 2048;
const numbersPerRead = 4;

function ringMemory(): ReadRingMemory {
  const buffer = new SharedArrayBuffer(16 + capacity * numbersPerRead * 8);
  const word = (index: number): Int32Array<SharedArrayBuffer> => new Int32Array(buffer, index * 4, 1);
  const ring = { asked: word(0), done: word(1), asleep: word(2), reads: new Float64Array(buffer, 16) };
  ring.asleep[0] = 1;
  return ring;
}

export class RingReads implements ReadRing {
  readonly #client: Client<ReadMethods>;
  readonly #modelId: number;
  /** To be shared before the first read. */
  readonly memory = ringMemory();
  /** Asked for and not taken, oldest first. */
  readonly #queue: ReadRequest[] = [];
  #asked = 0;
  #taken = 0;
  #abort = new AbortController();
  #draining: Promise<void> = Promise.resolve();
  #onFailure: (reads: ReadRequest[], error: unknown) => void = () => undefined;

  constructor(client: Client<ReadMethods>, modelId: number) {
    this.#client = client;
    this.#modelId = modelId;
  }

  set onFailure(listener: (reads: ReadRequest[], error: unknown) => void) {
    this.#onFailure = listener;
  }

  get hasRoom(): boolean {
    return this.#queue.length < capacity;
  }

  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  push(read: ReadRequest): void {
    const { asked, asleep, reads } = this.memory;
    reads.set([read.part, read.offset, read.bytes, read.pointer], (this.#asked % capacity) * numbersPerRead);
    this.#queue.push(read);
    this.#asked = (this.#asked + 1) >>> 0;
    Atomics.store(asked, 0, this.#asked | 0);
    Atomics.notify(asked, 0);
    if (Atomics.exchange(asleep, 0, 0) === 1) {
      this.#draining = this.#drain();
    }
  }

  take(): ReadRequest | undefined {
    if (Atomics.load(this.memory.done, 0) >>> 0 === this.#taken) {
      return undefined;
    }
    this.#taken = (this.#taken + 1) >>> 0;
    return this.#queue.shift();
  }

  /** Blocks the worker; false: nothing came for so long. */
  wait(ms: number): boolean {
    return Atomics.wait(this.memory.done, 0, this.#taken | 0, ms) !== 'timed-out';
  }

  abort(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  /** When nothing is written into the engine's memory any more. */
  async settle(): Promise<void> {
    while (Atomics.load(this.memory.done, 0) !== (this.#asked | 0)) {
      await this.#draining;
    }
  }

  /** Never rejects. When the other end has failed it has stopped: what it has not done fails with it. */
  async #drain(): Promise<void> {
    try {
      const call = { modelId: this.#modelId };
      await this.#client.call('drain', call, { signal: this.#abort.signal, untilServed: true });
    } catch (error) {
      const { done, asleep } = this.memory;
      const served = ((Atomics.load(done, 0) >>> 0) - this.#taken) >>> 0;
      const failed = this.#queue.splice(served);
      Atomics.store(done, 0, this.#asked | 0);
      this.#taken = (this.#asked - served) >>> 0;
      Atomics.store(asleep, 0, 1);
      this.#onFailure(failed, error);
    }
  }
}

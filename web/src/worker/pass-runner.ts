// SPDX-License-Identifier: MIT
// Drives passes: starts the reads the engine asks for, lets it compute in slices that are short enough for messages
// to come in between, and ends every pass cleanly: done, cancelled or failed, no read of it is left in flight.

import { abortable, SerialQueue } from '../async.js';
import { createError, LayerstreamError } from '../errors.js';
import type { Engine, PassWants, ReadRequest } from '../engine/module.js';
import type { Extent } from '../protocol/data.js';
import type { EventLoop } from './event-loop.js';
import type { WeightSource } from './weight-source.js';

export interface PassOptions {
  signal: AbortSignal;
  /** Blocks that are done, whenever it changes. */
  onBlock?: (block: number) => void;
}

/** Reads without messages, of who reads straight into the engine's memory. They end in the order in which they were asked for. */
export interface ReadRing {
  /** `reads` have failed, and nothing of what was asked for before is under way any more. */
  onFailure: (reads: ReadRequest[], error: unknown) => void;
  readonly hasRoom: boolean;
  /** Everything was taken, or has failed. */
  readonly isIdle: boolean;
  push(read: ReadRequest): void;
  /** The next whose bytes are there. */
  take(): ReadRequest | undefined;
  /** Blocks until there is one; false: not for `ms`. */
  wait(ms: number): boolean;
  /** What is under way fails. */
  abort(): void;
  settle(): Promise<void>;
}

/** Reads up to this size (rows of the embedding) share one message. */
const smallReadBytes = 64 << 10;
/** Reads in flight: enough to keep the storage worker busy, few enough to hold little memory. */
const maxBytesInFlight = 32 << 20;
const targetSliceMs = 45;
const maxSilenceMs = 50;
/** With a ring: a slot that has become free is filled again before the pass needs its next unit. */
const ringSliceMs = 1;
const ringWaitMs = 20;
const minWork = 1 << 20;

export class PassRunner {
  readonly #engine: Engine;
  readonly #source: WeightSource;
  readonly #loop: EventLoop;
  readonly #ring: ReadRing | null;
  /** Passes, and what must not happen during one. */
  readonly #turns = new SerialQueue();
  /** With what ends the wait for each. */
  readonly #inFlight = new Map<Promise<void>, AbortController>();
  #bytesInFlight = 0;
  #readError: unknown = null;
  #work = 64 << 20; // multiply-adds of a slice; adapts to the machine

  constructor(engine: Engine, source: WeightSource, loop: EventLoop, ring: ReadRing | null = null) {
    this.#engine = engine;
    this.#source = source;
    this.#loop = loop;
    this.#ring = ring;
    if (ring !== null) {
      ring.onFailure = (reads, error) => this.#fail(reads, error);
    }
  }

  /** One pass over `tokens` at the engine's position. If it throws, the engine is as it was before, or has an empty cache. */
  run(tokens: readonly number[], wanted: PassWants, options: PassOptions): Promise<void> {
    return this.#turns.run(() => this.#pass(tokens, wanted, options));
  }

  /** Runs `task` when no pass is under way and no read is in flight. */
  betweenPasses<T>(task: () => T): Promise<T> {
    return this.#turns.run(async () => {
      await this.abandon();
      return task();
    });
  }

  async #pass(tokens: readonly number[], wanted: PassWants, { signal, onBlock }: PassOptions): Promise<void> {
    signal.throwIfAborted();
    this.#readError = null;
    this.#engine.beginPass(tokens, wanted);
    try {
      let lastBlock = -1;
      for (;;) {
        this.#startReads();
        const { state, stage } = this.#slice();
        const hasMore = this.#takeIn();
        const blocks = this.#engine.blockCount;
        const block = state === 'done' ? blocks : Math.min(Math.max(stage - 1, 0), blocks);
        if (block !== lastBlock) {
          lastBlock = block;
          onBlock?.(block);
        }
        if (state === 'done') {
          break;
        }
        if (state === 'needs-reads' && !hasMore) {
          this.#startReads(); // computing may have freed slots
          await this.#waitForRead(signal);
        } else {
          await this.#loop.turnAfter(maxSilenceMs);
        }
        signal.throwIfAborted();
        if (this.#readError !== null) {
          throw this.#readError;
        }
      }
    } catch (error) {
      this.#engine.cancelPass();
      await this.abandon();
      throw error;
    }
    // Prefetch for the next pass goes on; its bytes are taken in as they come.
    this.#startReads();
    await this.#loop.turnAfter(maxSilenceMs);
  }

  /** Lets go of the reads in flight, which may wait for a download. */
  async abandon(): Promise<void> {
    this.#inFlight.forEach((abort) => abort.abort());
    this.#ring?.abort();
    await this.settle();
  }

  /** Waits until no read is in flight. */
  async settle(): Promise<void> {
    while (this.#inFlight.size > 0) {
      await Promise.all(this.#inFlight.keys());
    }
    await this.#ring?.settle();
    this.#takeIn();
  }

  #slice(): ReturnType<Engine['run']> {
    const began = performance.now();
    const result = this.#engine.run(this.#work);
    if (result.state === 'paused') {
      const target = this.#ring === null ? targetSliceMs : ringSliceMs;
      const took = Math.max(performance.now() - began, 0.1);
      this.#work = Math.max(minWork, Math.round(this.#work * Math.min(Math.max(target / took, 0.5), 2)));
    }
    return result;
  }

  #startReads(): void {
    const small: ReadRequest[] = [];
    const large: ReadRequest[] = [];
    while (this.#bytesInFlight < maxBytesInFlight && this.#ring?.hasRoom !== false) {
      const read = this.#engine.takeRead();
      if (read === null) {
        break;
      }
      this.#bytesInFlight += read.bytes;
      (this.#ring ?? (read.bytes <= smallReadBytes ? small : large)).push(read);
    }
    for (const batch of [small, ...large.map((read) => [read])]) {
      if (batch.length > 0) {
        this.#start(batch);
      }
    }
  }

  #start(batch: readonly ReadRequest[]): void {
    const abort = new AbortController();
    const reading = this.#read(batch, abort.signal).finally(() => {
      this.#inFlight.delete(reading);
    });
    this.#inFlight.set(reading, abort);
  }

  /** Never rejects: a failure is kept for the pass. */
  async #read(batch: readonly ReadRequest[], signal: AbortSignal): Promise<void> {
    try {
      const { readInto } = this.#source;
      if (readInto !== undefined) {
        const pointers = batch.map(({ pointer }) => pointer);
        await readInto(batch.map(extentOf), pointers, signal);
        this.#loop.noteTurn();
        batch.forEach((read) => this.#finish(read, () => this.#engine.completeRead(read)));
        return;
      }
      const bytes = await this.#source.read(batch, signal);
      this.#loop.noteTurn();
      let at = 0;
      for (const read of batch) {
        const own = bytes.subarray(at, at + read.bytes);
        this.#finish(read, () => this.#engine.copyIn(read, own));
        at += read.bytes;
      }
      this.#source.recycle(bytes);
    } catch (error) {
      this.#fail(batch, error);
    }
  }

  #fail(reads: readonly ReadRequest[], error: unknown): void {
    this.#readError ??= withBlock(error, reads[0]?.stage ?? 0, this.#engine.blockCount);
    reads.forEach((read) => this.#finish(read, () => this.#engine.failRead(read)));
  }

  /** What has come by way of the ring; false: nothing. */
  #takeIn(): boolean {
    let some = false;
    for (let read: ReadRequest | undefined; (read = this.#ring?.take()) !== undefined; some = true) {
      const taken = read;
      this.#finish(taken, () => this.#engine.completeRead(taken));
    }
    return some;
  }

  #finish(read: ReadRequest, tellEngine: () => void): void {
    this.#bytesInFlight -= read.bytes;
    try {
      tellEngine();
    } catch (error) {
      this.#readError ??= error;
    }
  }

  async #waitForRead(signal: AbortSignal): Promise<void> {
    if (this.#ring?.isIdle === false) {
      await this.#loop.turnAfter(this.#ring.wait(ringWaitMs) ? maxSilenceMs : 0);
      this.#takeIn();
      return;
    }
    if (this.#inFlight.size === 0) {
      throw createError('internal', 'the engine waits for nothing');
    }
    await abortable(Promise.race(this.#inFlight.keys()), signal);
    this.#loop.noteTurn();
  }
}

const extentOf = ({ part, offset, bytes }: ReadRequest): Extent => ({ part, offset, bytes });

/** Says which block's weights could not be read. Stages: 0 embed, 1 … n blocks, n + 1 head. */
function withBlock(error: unknown, stage: number, blockCount: number): unknown {
  if (!(error instanceof LayerstreamError) || stage < 1 || stage > blockCount) {
    return error;
  }
  const block = stage - 1;
  return createError(error.code, `the weights of block ${block} cannot be read: ${error.message}`, {
    details: { ...error.details, block },
    cause: error.cause,
  });
}

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

/** Reads up to this size (rows of the embedding) share one message. */
const smallReadBytes = 64 << 10;
/** Reads in flight: enough to keep the storage worker busy, few enough to hold little memory. */
const maxBytesInFlight = 32 << 20;
const targetSliceMs = 45;
const maxSilenceMs = 50;
const minWork = 1 << 20;

export class PassRunner {
  readonly #engine: Engine;
  readonly #source: WeightSource;
  readonly #loop: EventLoop;
  /** Passes, and what must not happen during one. */
  readonly #turns = new SerialQueue();
  /** With what ends the wait for each. */
  readonly #inFlight = new Map<Promise<void>, AbortController>();
  #bytesInFlight = 0;
  #readError: unknown = null;
  #work = 64 << 20; // multiply-adds of a slice; adapts to the machine

  constructor(engine: Engine, source: WeightSource, loop: EventLoop) {
    this.#engine = engine;
    this.#source = source;
    this.#loop = loop;
  }

  /** One pass over `tokens` at the engine's position. If it throws, the engine is as it was before. */
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
        const blocks = this.#engine.blockCount;
        const block = state === 'done' ? blocks : Math.min(Math.max(stage - 1, 0), blocks);
        if (block !== lastBlock) {
          lastBlock = block;
          onBlock?.(block);
        }
        if (state === 'done') {
          break;
        }
        if (state === 'needs-reads') {
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
    await this.settle();
  }

  /** Waits until no read is in flight. */
  async settle(): Promise<void> {
    while (this.#inFlight.size > 0) {
      await Promise.all(this.#inFlight.keys());
    }
  }

  #slice(): ReturnType<Engine['run']> {
    const began = performance.now();
    const result = this.#engine.run(this.#work);
    if (result.state === 'paused') {
      const took = Math.max(performance.now() - began, 0.1);
      this.#work = Math.max(
        minWork,
        Math.round(this.#work * Math.min(Math.max(targetSliceMs / took, 0.5), 2)),
      );
    }
    return result;
  }

  #startReads(): void {
    const small: ReadRequest[] = [];
    const large: ReadRequest[] = [];
    while (this.#bytesInFlight < maxBytesInFlight) {
      const read = this.#engine.takeRead();
      if (read === null) {
        break;
      }
      this.#bytesInFlight += read.bytes;
      (read.bytes <= smallReadBytes ? small : large).push(read);
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
      this.#readError ??= withBlock(error, batch[0]?.stage ?? 0, this.#engine.blockCount);
      batch.forEach((read) => this.#finish(read, () => this.#engine.failRead(read)));
    }
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
    if (this.#inFlight.size === 0) {
      throw createError('internal', 'the engine waits for weights, but asks for none');
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

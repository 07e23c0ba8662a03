// SPDX-License-Identifier: MIT
// The two ends of a credit-based stream. The receiving end grants credits (one chunk each) and renews them as
// chunks are consumed, so a slow page is never flooded; the sending end waits, or merges, when it has none.

import { deferred } from '../async.js';

/** Chunks that may be on the way before the receiver has taken any. */
export const initialCredits = 8;

interface Waiter<C> {
  resolve(result: IteratorResult<C, undefined>): void;
  reject(error: unknown): void;
}

export interface StreamControl {
  /** Grants more chunks. */
  pull(credits: number): void;
  /** Tells the other end that nobody listens any more. */
  cancel(): void;
}

/** Receiving end: iterate once; leaving the loop cancels. `result` settles with the call. */
export class RemoteStream<C, R> implements AsyncIterable<C> {
  readonly #control: StreamControl;
  readonly #queue: C[] = [];
  readonly #waiters: Waiter<C>[] = [];
  readonly #result = deferred<R>();
  #state: 'open' | 'ended' | 'failed' = 'open';
  #error: unknown = undefined;

  constructor(control: StreamControl) {
    this.#control = control;
  }

  get result(): Promise<R> {
    return this.#result.promise;
  }

  push(chunk: C): void {
    if (this.#state !== 'open') {
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      this.#queue.push(chunk);
      return;
    }
    this.#control.pull(1);
    waiter.resolve({ done: false, value: chunk });
  }

  end(result: R): void {
    if (this.#state !== 'open') {
      return;
    }
    this.#state = 'ended';
    this.#result.resolve(result);
    for (const waiter of this.#waiters.splice(0)) {
      waiter.resolve({ done: true, value: undefined });
    }
  }

  /** Chunks that were not taken yet are dropped. */
  fail(error: unknown): void {
    if (this.#state !== 'open') {
      return;
    }
    this.#state = 'failed';
    this.#error = error;
    this.#queue.length = 0;
    this.#result.reject(error);
    for (const waiter of this.#waiters.splice(0)) {
      waiter.reject(error);
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<C, undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        if (this.#state === 'open') {
          this.#control.cancel();
          this.fail(new DOMException('the reader left the stream', 'AbortError'));
        }
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #next(): Promise<IteratorResult<C, undefined>> {
    if (this.#state === 'failed') {
      return Promise.reject(this.#error);
    }
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      if (this.#state === 'open') {
        this.#control.pull(1);
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#state === 'ended') {
      return Promise.resolve({ done: true, value: undefined });
    }
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }
}

/** Sending end's account. */
export class Credits {
  #available: number;
  #waiters: (() => void)[] = [];

  constructor(initial: number) {
    this.#available = initial;
  }

  get available(): number {
    return this.#available;
  }

  add(credits: number): void {
    this.#available += credits;
    while (this.#available > 0 && this.#waiters.length > 0) {
      this.#available -= 1;
      this.#waiters.shift()?.();
    }
  }

  /** Takes one credit, waiting for it if need be; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> {
    if (signal.aborted) {
      return Promise.reject(signal.reason);
    }
    if (this.#available > 0) {
      this.#available -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiters = this.#waiters.filter((waiter) => waiter !== grant);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiters.push(grant);
    });
  }
}

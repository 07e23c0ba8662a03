// SPDX-License-Identifier: MIT
// Small tools for promises that every room needs. No state beyond the object made.

/** Rejects with the signal's reason as soon as it aborts; the promise itself goes on unobserved. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return promise;
  }
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) {
      promise.catch(() => undefined);
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** A promise with its resolvers outside. Its rejection never counts as unhandled. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** Runs tasks one after another, in the order they were added. A failed task does not stop the next. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  /** A task whose signal aborted before its turn is not started. */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.#tail.then(async () => {
      signal?.throwIfAborted();
      return task();
    });
    this.#tail = turn.catch(() => undefined);
    return abortable(turn, signal);
  }

  /** Settles when everything added so far has ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}

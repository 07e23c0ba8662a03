// SPDX-License-Identifier: MIT
// The calling end. Every call settles: by its answer, by the caller's signal (at once, with the signal's reason),
// or by close() when the other end is gone. Owns its listener on the endpoint, not the endpoint.

import { LayerstreamError } from '../errors.js';
import { decodeError, decodeToClient, trusted } from './codec.js';
import type { Endpoint, EndpointMessage } from './endpoint.js';
import type { ToClient, ToDispatcher } from './messages.js';
import { protocolVersion, type MethodMap, type MethodSpec } from './methods.js';
import { initialCredits, RemoteStream } from './stream.js';

export interface CallOptions<S extends MethodSpec> {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: S['progress']) => void) | undefined;
  transfer?: Transferable[];
  /** The signal only asks the other end to stop, and the call settles when it has: it writes into shared memory. */
  untilServed?: boolean;
  /** The result of a call that was cancelled too late: whatever it holds at the other end must be let go. */
  onOrphan?: (result: S['result']) => void;
}

interface Pending {
  result(value: unknown): void;
  fail(error: unknown): void;
  progress(value: unknown): void;
  chunk(value: unknown): void;
}

export class Client<M extends MethodMap<M>> {
  readonly #endpoint: Endpoint;
  readonly #pending = new Map<number, Pending>();
  readonly #orphans = new Map<number, (value: unknown) => void>();
  readonly #listener = (event: EndpointMessage): void => this.#receive(event.data);
  /** Nobody can say whose answer it was: all fail rather than one waiting for ever. */
  readonly #lossListener = (): void =>
    this.close(new LayerstreamError('internal', 'a message could not be handed over'));
  #nextId = 1;
  #closed: Error | null = null;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    endpoint.addEventListener('message', this.#listener);
    endpoint.addEventListener('messageerror', this.#lossListener);
    endpoint.start?.();
    this.#post({ type: 'hello', version: protocolVersion });
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  /** Calls that have not settled. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  call<K extends keyof M & string>(
    method: K,
    params: M[K]['params'],
    options: CallOptions<M[K]> = {},
  ): Promise<M[K]['result']> {
    return new Promise((resolve, reject) => {
      this.#begin(method, params, options, {
        result: (value) => resolve(trusted(value)),
        fail: reject,
        chunk: () => undefined,
      });
    });
  }

  stream<K extends keyof M & string>(
    method: K,
    params: M[K]['params'],
    options: CallOptions<M[K]> = {},
  ): RemoteStream<M[K]['chunk'], M[K]['result']> {
    let id = 0;
    const stream = new RemoteStream<M[K]['chunk'], M[K]['result']>({
      pull: (credits) => this.#post({ type: 'pull', id, credits }),
      cancel: () => {
        if (this.#pending.delete(id)) {
          this.#post({ type: 'cancel', id });
        }
      },
    });
    id = this.#begin(method, params, options, {
      result: (value) => stream.end(trusted(value)),
      fail: (error) => stream.fail(error),
      chunk: (value) => stream.push(trusted(value)),
    });
    return stream;
  }

  /** Rejects everything pending, and every later call, with `error`. */
  close(error: Error): void {
    if (this.#closed !== null) {
      return;
    }
    this.#closed = error;
    this.#endpoint.removeEventListener('message', this.#listener);
    this.#endpoint.removeEventListener('messageerror', this.#lossListener);
    for (const id of [...this.#pending.keys()]) {
      this.#settle(id)?.fail(error);
    }
  }

  #begin<K extends keyof M & string>(
    method: K,
    params: M[K]['params'],
    options: CallOptions<M[K]>,
    handlers: Omit<Pending, 'progress'>,
  ): number {
    const { signal, onProgress, onOrphan, untilServed = false } = options;
    if (this.#closed !== null || signal?.aborted === true) {
      handlers.fail(this.#closed ?? signal?.reason);
      return 0;
    }
    const id = this.#nextId++;
    const abort = (): void => {
      if (untilServed) {
        this.#post({ type: 'cancel', id });
        return;
      }
      if (!this.#pending.delete(id)) {
        return;
      }
      if (onOrphan !== undefined) {
        this.#orphans.set(id, (value) => onOrphan(trusted(value)));
      }
      this.#post({ type: 'cancel', id });
      handlers.fail(signal?.reason);
    };
    const settled = (): void => signal?.removeEventListener('abort', abort);
    this.#pending.set(id, {
      result: (value) => {
        settled();
        handlers.result(value);
      },
      fail: (error) => {
        settled();
        handlers.fail(error);
      },
      chunk: handlers.chunk,
      progress: (value) => onProgress?.(trusted(value)),
    });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.#endpoint.postMessage(
        { type: 'request', id, method, params, credits: initialCredits },
        options.transfer ?? [],
      );
    } catch (error) {
      this.#settle(id)?.fail(error); // a parameter that cannot be cloned
    }
    return id;
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #post(message: Exclude<ToDispatcher<M>, { type: 'request' }>): void {
    if (this.#closed === null) {
      this.#endpoint.postMessage(message, []);
    }
  }

  #receive(data: unknown): void {
    const message: ToClient<M> | null = decodeToClient<M>(data);
    if (message === null) {
      return;
    }
    switch (message.type) {
      case 'hello':
        if (message.version !== protocolVersion) {
          this.close(
            new LayerstreamError(
              'protocol_mismatch',
              `the worker speaks protocol ${message.version}, this page ${protocolVersion}: reload the page`,
              { details: { workerVersion: message.version, pageVersion: protocolVersion } },
            ),
          );
        }
        return;
      case 'result':
        this.#settle(message.id)?.result(message.result);
        this.#orphans.get(message.id)?.(message.result);
        this.#orphans.delete(message.id);
        return;
      case 'error':
        this.#orphans.delete(message.id);
        this.#settle(message.id)?.fail(decodeError(message.error));
        return;
      case 'progress':
        this.#pending.get(message.id)?.progress(message.progress);
        return;
      case 'chunk':
        this.#pending.get(message.id)?.chunk(message.chunk);
        return;
      default:
        message satisfies never;
    }
  }
}

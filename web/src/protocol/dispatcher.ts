// SPDX-License-Identifier: MIT
// The serving end: one handler per method of the map (a missing one is a compile error). Calls run concurrently;
// a handler that needs order queues for itself. Owns its listener on the endpoint, not the endpoint.

import { LayerstreamError } from '../errors.js';
import { decodeToDispatcher, encodeError, trusted } from './codec.js';
import type { Endpoint, EndpointMessage } from './endpoint.js';
import type { RequestMessage, ToClient } from './messages.js';
import { protocolVersion, type MethodMap, type MethodSpec } from './methods.js';
import { Credits } from './stream.js';

export interface CallContext<S extends MethodSpec> {
  /** Aborts when the caller cancels or the dispatcher closes. */
  readonly signal: AbortSignal;
  progress(value: S['progress']): void;
  /** Chunks that can be sent without waiting. */
  readonly credits: number;
  /** Sends when a credit is there. */
  chunk(value: S['chunk']): Promise<void>;
  /** Objects of the result to move instead of copy. */
  transfer(...objects: Transferable[]): void;
}

export type Handlers<M extends MethodMap<M>> = {
  [K in keyof M]: (params: M[K]['params'], context: CallContext<M[K]>) => Promise<M[K]['result']>;
};

interface Running {
  readonly abort: AbortController;
  readonly credits: Credits;
}

export class Dispatcher<M extends MethodMap<M>> {
  readonly #endpoint: Endpoint;
  readonly #handlers: Handlers<M>;
  readonly #running = new Map<number, Running>();
  readonly #listener = (event: EndpointMessage): void => this.#receive(event.data);
  readonly #lossListener = (): void => this.#refuseLost();
  #lastId = 0;
  #mismatch: LayerstreamError | null = null;

  constructor(endpoint: Endpoint, handlers: Handlers<M>) {
    this.#endpoint = endpoint;
    this.#handlers = handlers;
    endpoint.addEventListener('message', this.#listener);
    endpoint.addEventListener('messageerror', this.#lossListener);
    endpoint.start?.();
  }

  /** Calls whose handlers have not ended. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Aborts what runs; nothing is answered any more. */
  close(): void {
    this.#endpoint.removeEventListener('message', this.#listener);
    this.#endpoint.removeEventListener('messageerror', this.#lossListener);
    for (const call of this.#running.values()) {
      call.abort.abort();
    }
  }

  #receive(data: unknown): void {
    const message = decodeToDispatcher<M>(data);
    if (message === null) {
      return;
    }
    switch (message.type) {
      case 'hello':
        if (message.version !== protocolVersion) {
          this.#mismatch = new LayerstreamError(
            'protocol_mismatch',
            `the page speaks protocol ${message.version}, this worker ${protocolVersion}: reload the page`,
          );
        }
        this.#post({ type: 'hello', version: protocolVersion });
        return;
      case 'request':
        this.#lastId = message.id;
        void this.#serve(message);
        return;
      case 'pull':
        this.#running.get(message.id)?.credits.add(message.credits);
        return;
      case 'cancel':
        this.#running.get(message.id)?.abort.abort();
        return;
      default:
        message satisfies never;
    }
  }

  /** A request that did not arrive whole: only requests carry objects, and their numbers go up one by one. */
  #refuseLost(): void {
    this.#lastId += 1;
    const error = new LayerstreamError('internal', 'a message could not be handed over');
    this.#post({ type: 'error', id: this.#lastId, error: encodeError(error) });
  }

  async #serve(request: RequestMessage<M>): Promise<void> {
    const { id } = request;
    const call: Running = { abort: new AbortController(), credits: new Credits(request.credits) };
    const transfer: Transferable[] = [];
    this.#running.set(id, call);
    try {
      const result: unknown = await this.#invoke(request, {
        signal: call.abort.signal,
        progress: (progress) => this.#post({ type: 'progress', id, progress }),
        get credits() {
          return call.credits.available;
        },
        chunk: async (chunk) => {
          await call.credits.take(call.abort.signal);
          this.#post({ type: 'chunk', id, chunk });
        },
        transfer: (...objects) => void transfer.push(...objects),
      });
      this.#endpoint.postMessage({ type: 'result', id, result }, transfer);
    } catch (error) {
      this.#post({ type: 'error', id, error: encodeError(error) });
    } finally {
      this.#running.delete(id);
    }
  }

  async #invoke<K extends keyof M & string>(
    request: { method: K; params: M[K]['params'] },
    context: CallContext<MethodSpec>,
  ): Promise<M[K]['result']> {
    if (this.#mismatch !== null) {
      throw this.#mismatch;
    }
    if (!Object.hasOwn(this.#handlers, request.method)) {
      throw new LayerstreamError('protocol_mismatch', `there is no method ${request.method}`);
    }
    const handler = this.#handlers[request.method];
    return handler(request.params, trusted(context));
  }

  #post(
    message: ToClient<M> | { type: 'progress' | 'chunk'; id: number; progress?: unknown; chunk?: unknown },
  ): void {
    this.#endpoint.postMessage(message, []);
  }
}

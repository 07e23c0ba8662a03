// SPDX-License-Identifier: MIT
// What the API needs of its surroundings: workers, and the page's address. browser-host.ts is the real one; tests
// join the same API with services in the same process.

import { LayerstreamError, messageOf, WorkerCrashedError } from '../errors.js';
import { Client } from '../protocol/client.js';
import type { Endpoint } from '../protocol/endpoint.js';
import type { EngineMethods, MethodMap, StorageMethods } from '../protocol/methods.js';

/** A worker and the two things one can do with it besides talking. */
export interface WorkerLink {
  readonly endpoint: Endpoint;
  terminate(): void;
  /** Called at most once, if the worker ends by itself. */
  onCrash(listener: (cause: unknown) => void): void;
}

export interface Host {
  startEngine(): WorkerLink;
  /** How long an engine may take until its module runs, at the first try, the second … */
  readonly enginePatienceMs: readonly number[];
  startStorage(): WorkerLink;
  /** For relative URLs; undefined where there is no page. */
  readonly baseUrl: string | undefined;
  /** Asks the browser not to evict our storage. */
  persist(): void;
  /** The page is cross-origin isolated: memory can be shared. */
  readonly isolated: boolean;
  /** As the browser tells; 1 if it does not. */
  readonly logicalProcessors: number;
  /** Tells a silent death of a worker (the browser killed it): it held the lock. */
  readonly locks: LockManager | undefined;
}

/** A client of a worker that rejects everything when the worker dies. */
export class Connection<M extends MethodMap<M>> {
  readonly client: Client<M>;
  readonly #link: WorkerLink;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<(error: Error) => void>();
  #crashed = false;

  constructor(link: WorkerLink, what: string) {
    this.#link = link;
    this.client = new Client<M>(link.endpoint);
    link.onCrash((cause) => this.crash(`the ${what} worker died: ${messageOf(cause)}`, cause));
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  /** Aborts when the worker was ended or died. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  crash(message: string, cause?: unknown): void {
    if (!this.#ended.signal.aborted) {
      const error = new WorkerCrashedError('worker_crashed', message, { cause });
      this.#crashed = true;
      this.#end(error);
      this.#listeners.forEach((listener) => listener(error));
    }
  }

  /** Until `until` aborts. */
  onCrash(listener: (error: Error) => void, until?: AbortSignal): void {
    this.#listeners.add(listener);
    until?.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** On purpose. */
  close(reason: LayerstreamError): void {
    if (!this.#ended.signal.aborted) {
      this.#end(reason);
    }
  }

  #end(error: Error): void {
    this.#ended.abort();
    this.client.close(error);
    this.#link.terminate();
  }
}

let lockNumber = 0;

/** Notices when the browser kills the worker without an event. Does nothing where there are no Web Locks. */
export async function watchByLock<M extends MethodMap<M> & Pick<EngineMethods | StorageMethods, 'watch'>>(
  connection: Connection<M>,
  locks: LockManager | undefined,
  what: string,
): Promise<void> {
  if (locks === undefined) {
    return;
  }
  lockNumber += 1;
  const lockName = `layerstream-${what}-${Date.now()}-${Math.random()}-${lockNumber}`;
  try {
    const { held } = await connection.client.call('watch', { lockName });
    if (held) {
      // Granted only when the worker is gone.
      await locks.request(lockName, { signal: connection.ended }, () => undefined);
      connection.crash(`the ${what} worker was ended by the browser`);
    }
  } catch {
    // The connection ended first; whoever ended it has told the callers.
  }
}

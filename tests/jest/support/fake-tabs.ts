// SPDX-License-Identifier: MIT
// What tabs of one origin share besides files: Web Locks and a BroadcastChannel. A tab that is killed loses its locks,
// its place in their queues and its ears.

import type { TabChannel, Tabs } from '#web/worker/tab-turns.js';

interface Request {
  tab: FakeTab;
  grant(): void;
}

export class FakeOrigin {
  /** By name: the holder, then those who wait. */
  readonly queues = new Map<string, Request[]>();
  readonly tabs = new Set<FakeTab>();

  tab(): FakeTab {
    const tab = new FakeTab(this);
    this.tabs.add(tab);
    return tab;
  }

  get waiting(): number {
    return [...this.queues.values()].reduce((sum, queue) => sum + Math.max(0, queue.length - 1), 0);
  }

  enter(name: string, request: Request): void {
    const queue = this.queues.get(name) ?? [];
    this.queues.set(name, [...queue, request]);
    if (queue.length === 0) {
      request.grant();
    }
  }

  leave(name: string, request: Request): void {
    const queue = this.queues.get(name) ?? [];
    const next = queue.filter((other) => other !== request);
    this.queues.set(name, next);
    if (queue[0] === request) {
      next[0]?.grant();
    }
  }
}

export class FakeTab implements Tabs {
  readonly #origin: FakeOrigin;
  readonly #listeners = new Set<(event: { data: unknown }) => void>();
  readonly channel: TabChannel = {
    postMessage: (message) => {
      const data: unknown = structuredClone(message);
      const others = this.#isAlive ? [...this.#origin.tabs].filter((tab) => tab !== this) : [];
      others.forEach((tab) => setTimeout(() => tab.hear(data)));
    },
    addEventListener: (_, listener) => void this.#listeners.add(listener),
    removeEventListener: (_, listener) => void this.#listeners.delete(listener),
  };
  readonly locks = { request: this.#request.bind(this) } as unknown as Tabs['locks'];
  #isAlive = true;

  constructor(origin: FakeOrigin) {
    this.#origin = origin;
  }

  hear(data: unknown): void {
    this.#listeners.forEach((listener) => listener({ data }));
  }

  kill(): void {
    this.#isAlive = false;
    this.#listeners.clear();
    for (const [name, queue] of this.#origin.queues) {
      queue.filter(({ tab }) => tab === this).forEach((request) => this.#origin.leave(name, request));
    }
  }

  #request(
    name: string,
    { signal, ifAvailable = false }: LockOptions,
    hold: (lock: object | null) => Promise<void> | null,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      let state: 'waiting' | 'granted' | 'left' = 'waiting';
      const request: Request = {
        tab: this,
        // Later than messages: who lets a lock go may have said something just before.
        grant: () =>
          void setTimeout(() => {
            if (state === 'waiting') {
              state = 'granted';
              void hold({ name })?.finally(() => {
                this.#origin.leave(name, request);
                resolve();
              });
            }
          }, 5),
      };
      signal?.addEventListener('abort', () => {
        if (state === 'waiting') {
          state = 'left';
          this.#origin.leave(name, request);
          reject(signal.reason);
        }
      });
      if (signal?.aborted) {
        reject(signal.reason);
      } else if (ifAvailable && (this.#origin.queues.get(name)?.length ?? 0) > 0) {
        hold(null);
        resolve();
      } else {
        this.#origin.enter(name, request);
      }
    });
  }
}

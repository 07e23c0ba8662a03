// SPDX-License-Identifier: MIT
// Tabs that want the same model: one at a time has the turn to open and write it, under a Web Lock, which the browser
// takes back from a tab that dies. The others wait, hear how far it is, and have it try again if it had given up
// (docs/decisions/0009-tabs.md).

import { decodeError, encodeError } from '../protocol/codec.js';
import type { WireError } from '../protocol/messages.js';

export interface TurnProgress {
  loadedBytes: number;
  totalBytes: number;
}

type Message =
  | { kind: 'waiting'; url: string }
  | { kind: 'progress'; url: string; progress: TurnProgress }
  | { kind: 'failed'; url: string; error: WireError };

/** What a BroadcastChannel offers; all tabs of the origin speak on it. */
export interface TabChannel {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  removeEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

export interface Tabs {
  locks: Pick<LockManager, 'request'>;
  channel: TabChannel;
}

/** Another version of the package may say other things. */
function isMessage(data: unknown): data is Message {
  return (
    typeof data === 'object' &&
    data !== null &&
    'kind' in data &&
    (data.kind === 'waiting' || data.kind === 'progress' || data.kind === 'failed')
  );
}

const messageFor = (url: string, data: unknown): Message | null =>
  isMessage(data) && data.url === url ? data : null;

/** Resolves with what ends it; null: it is not available. */
function requestLock(locks: Tabs['locks'], name: string, options: LockOptions): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    const hold = (lock: Lock | null): Promise<void> | null => {
      if (lock === null) {
        resolve(null);
        return null;
      }
      return new Promise((unlock) => resolve(unlock));
    };
    locks.request(name, options, hold).catch(reject);
  });
}

/** The right to write one model. */
export class ModelTurn {
  readonly #url: string;
  readonly #channel: TabChannel;
  readonly #unlock: () => void;
  readonly #listener = ({ data }: { data: unknown }): void => {
    if (messageFor(this.#url, data)?.kind === 'waiting') {
      this.#onWaiting();
    }
  };
  #onWaiting: () => void = () => undefined;
  #isLeaving = false;

  constructor(url: string, channel: TabChannel, unlock: () => void) {
    this.#url = url;
    this.#channel = channel;
    this.#unlock = unlock;
    channel.addEventListener('message', this.#listener);
  }

  /** Another tab has begun to wait for the whole model. */
  set onWaiting(listener: () => void) {
    this.#onWaiting = listener;
  }

  readonly report = (progress: TurnProgress): void => {
    this.#post({ kind: 'progress', url: this.#url, progress });
  };

  /** Whoever waits gives up with the same error. */
  fail(error: unknown): void {
    this.#post({ kind: 'failed', url: this.#url, error: encodeError(error) });
  }

  /** The next tab will go on: from now on nothing that fails here concerns it. */
  leave(): void {
    this.#isLeaving = true;
    this.#channel.removeEventListener('message', this.#listener);
  }

  /** When nothing is written any more. */
  release(): void {
    this.leave();
    this.#unlock();
  }

  #post(message: Message): void {
    if (!this.#isLeaving) {
      this.#channel.postMessage(message);
    }
  }
}

export class TabTurns {
  readonly #tabs: Tabs;

  constructor(tabs: Tabs) {
    this.#tabs = tabs;
  }

  /** null: another tab has it. */
  async tryTake(url: string): Promise<ModelTurn | null> {
    return this.#turn(url, await requestLock(this.#tabs.locks, lockName(url), { ifAvailable: true }));
  }

  /** Waits for it. Rejects with the error of a tab that tried in vain meanwhile. */
  async take(
    url: string,
    { signal, onProgress }: { signal: AbortSignal; onProgress?: (progress: TurnProgress) => void },
  ): Promise<ModelTurn | null> {
    const { locks, channel } = this.#tabs;
    const failed = new AbortController();
    const listener = ({ data }: { data: unknown }): void => {
      const message = messageFor(url, data);
      if (message?.kind === 'progress') {
        onProgress?.(message.progress);
      } else if (message?.kind === 'failed') {
        failed.abort(decodeError(message.error));
      }
    };
    const ended = AbortSignal.any([signal, failed.signal]);
    channel.addEventListener('message', listener);
    try {
      const waiting = requestLock(locks, lockName(url), { signal: ended });
      channel.postMessage({ kind: 'waiting', url } satisfies Message);
      return this.#turn(url, await waiting);
    } catch (error) {
      ended.throwIfAborted();
      throw error;
    } finally {
      channel.removeEventListener('message', listener);
    }
  }

  #turn(url: string, unlock: (() => void) | null): ModelTurn | null {
    return unlock === null ? null : new ModelTurn(url, this.#tabs.channel, unlock);
  }
}

const lockName = (url: string): string => `layerstream-model ${url}`;

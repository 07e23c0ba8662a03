// SPDX-License-Identifier: MIT
// Starts an engine worker and makes sure that it runs.

import { createError, type LayerstreamError } from '../errors.js';
import type { EngineSettings } from '../protocol/data.js';
import type { EngineMethods } from '../protocol/methods.js';
import { Connection, watchByLock, type Host } from './host.js';

/**
 * An engine on its way. A worker that does not start in time is replaced by another, which may take longer: Firefox (ESR
 * 153) now and then never runs a worker that a worker starts, which is how the module gets its threads, and tells nobody.
 */
export class EngineStart {
  readonly #host: Host;
  readonly #choice: Pick<EngineSettings, 'build' | 'threads'>;
  readonly #onStart: (engine: Connection<EngineMethods>) => void;
  readonly #ready: Promise<Connection<EngineMethods>>;
  #engine: Connection<EngineMethods> | null = null;
  #ended: LayerstreamError | null = null;

  /** `onStart` sees every worker before anything is asked of it. */
  constructor(
    host: Host,
    { build, threads }: EngineSettings,
    onStart: (engine: Connection<EngineMethods>) => void,
  ) {
    this.#host = host;
    this.#choice = { build, threads };
    this.#onStart = onStart;
    this.#ready = this.#start();
    this.#ready.catch(() => undefined); // whoever needs it hears of it
  }

  /** The engine whose module runs. */
  ready(): Promise<Connection<EngineMethods>> {
    return this.#ready;
  }

  end(reason: LayerstreamError): void {
    this.#ended = reason;
    this.#engine?.close(reason);
  }

  async #start(): Promise<Connection<EngineMethods>> {
    const patience = this.#host.enginePatienceMs;
    for (const patienceMs of patience) {
      const engine = new Connection<EngineMethods>(this.#host.startEngine(), 'engine');
      this.#engine = engine;
      this.#onStart(engine);
      void watchByLock(engine, this.#host.locks, 'engine');
      if (await answersWithin(patienceMs, engine.client.call('prepare', this.#choice))) {
        return engine;
      }
      engine.close(createError('disposed', 'the engine did not start in time'));
      if (this.#ended !== null) {
        throw this.#ended;
      }
    }
    throw createError('worker_crashed', `the engine did not start, tried ${patience.length} times`, {
      details: { patienceMs: [...patience] },
    });
  }
}

async function answersWithin(patienceMs: number, answer: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  try {
    return await Promise.race([answer.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

// SPDX-License-Identifier: MIT
// Fetches the missing ranges of one model: those that somebody waits for, or all of them. Several requests are in flight
// where the server knows ranges, one sequential one where it does not. A lost connection goes on at the byte where it
// broke; what was verified is in the store, whatever happens. Can be started again after it failed or was stopped.

import { deferred, type Deferred } from '../async.js';
import { createError } from '../errors.js';
import { checkMagic } from '../storage/checks.js';
import type { RangeExtent } from '../storage/grid.js';
import type { ModelFiles } from '../storage/model-files.js';
import { rangeHash } from '../storage/range-hash.js';
import type { PartInfo } from '../storage/store-types.js';
import { RangeAssembler } from './assembler.js';
import { orStalled, readBody } from './body.js';
import { ProgressReports, type DownloadProgress } from './progress.js';
import { badLength, failed, requestPart, type PartAnswer, type RequestOptions } from './request.js';
import { defaultRetryPolicy, delay, delayBefore, type RetryPolicy } from './retry.js';
import { RunPlan, type Run } from './run-plan.js';

export interface DownloadOptions extends RequestOptions {
  retry?: Partial<RetryPolicy>;
}

const maxConnections = 3;

/** The server sent a whole part where a range was asked for. */
class RangeIgnored {}

interface Waiter {
  /** That were missing when it came. */
  ranges: readonly number[];
  done: Deferred<void>;
}

export class ModelDownload {
  readonly #files: ModelFiles;
  readonly #options: RequestOptions;
  readonly #retry: RetryPolicy;
  readonly #plan: RunPlan;
  readonly #inFlight = new Set<number>();
  readonly #waiters = new Set<Waiter>();
  readonly #progress: ProgressReports;
  /** Bytes of ranges that are not whole yet, per connection. */
  readonly #pending = new Set<RangeAssembler>();
  #abort = new AbortController();
  #connections = 0;
  #wantsAll = false;
  #whole: Deferred<void> | null = null;
  /** false: this server sends only whole parts. */
  #ranged: boolean;
  /** Answers from the beginning of a part that nobody has read yet. */
  readonly #answers: Map<number, PartAnswer>;

  constructor(
    files: ModelFiles,
    options: DownloadOptions,
    answers: ReadonlyMap<number, PartAnswer> = new Map(),
  ) {
    this.#files = files;
    this.#options = options;
    this.#retry = { ...defaultRetryPolicy, ...options.retry };
    this.#plan = new RunPlan(files.grid);
    this.#answers = new Map(answers);
    this.#ranged = [...answers.values()].every((answer) => answer.ranged);
    this.#progress = new ProgressReports(() => this.progress);
  }

  get progress(): DownloadProgress {
    const pending = [...this.#pending].reduce((sum, assembler) => sum + assembler.pendingBytes, 0);
    const { verifiedBytes, grid } = this.#files;
    return { loadedBytes: verifiedBytes + pending, totalBytes: grid.totalBytes };
  }

  /** The return value ends it. */
  onProgress(listener: (progress: DownloadProgress) => void): () => void {
    return this.#progress.listen(listener);
  }

  /** Asks for the first missing range, so that what stands in the way is known: no network, another file. */
  async begin(signal: AbortSignal): Promise<void> {
    const run = this.#plan.next(this.#isOpen, true);
    if (run === null) {
      return;
    }
    const options = { url: this.#partOf(run).url, stallMs: this.#retry.stallMs, signal };
    const answer = await this.#ask(run, 0, options).catch((error: unknown) => {
      if (!(error instanceof RangeIgnored)) {
        throw error;
      }
      return null; // the next request will be for the whole part
    });
    if (answer !== null) {
      void this.#connect(run, answer, this.#abort.signal);
    }
  }

  /** Fetches everything that is missing; settles when it is there, or with why not. */
  all(): Promise<void> {
    this.#whole ??= deferred<void>();
    this.#wantsAll = true;
    const whole = this.#whole;
    this.#pump();
    return whole.promise;
  }

  /** Waits until all these bytes are in the store, fetching what is missing before anything else. */
  async need(extent: RangeExtent, signal?: AbortSignal): Promise<void> {
    const { first, end } = this.#files.grid.rangesOf(extent);
    const ranges = Array.from({ length: end - first }, (_, index) => first + index).filter(
      (range) => !this.#files.has(range),
    );
    if (ranges.length === 0) {
      return;
    }
    signal?.throwIfAborted();
    const waiter: Waiter = { ranges, done: deferred<void>() };
    const leave = (): void => waiter.done.reject(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiters.add(waiter);
    this.#plan.demand(ranges);
    this.#pump();
    try {
      await waiter.done.promise;
    } finally {
      signal?.removeEventListener('abort', leave);
      this.#waiters.delete(waiter);
      this.#plan.release(ranges);
    }
  }

  /** What a pass will read, in its order. */
  setOrder(extents: readonly RangeExtent[]): void {
    this.#plan.setOrder(extents);
  }

  /** Whoever waits is rejected with `reason`. */
  stop(reason: unknown): void {
    const aborted = this.#abort;
    this.#abort = new AbortController();
    this.#wantsAll = false;
    aborted.abort(reason);
    this.#progress.stop();
    for (const answer of this.#answers.values()) {
      void answer.response.body?.cancel().catch(() => undefined);
    }
    this.#answers.clear();
    const whole = this.#whole;
    this.#whole = null;
    whole?.reject(reason);
    this.#waiters.forEach((waiter) => waiter.done.reject(reason));
  }

  #pump(): void {
    this.#settle();
    while (this.#connections < (this.#ranged ? maxConnections : 1)) {
      const next = this.#nextAnswered() ?? this.#nextRun();
      if (next === null) {
        return;
      }
      void this.#connect(next.run, next.answer, this.#abort.signal);
    }
  }

  readonly #isOpen = (range: number): boolean => !this.#files.has(range) && !this.#inFlight.has(range);

  #nextRun(): { run: Run; answer: null } | null {
    const run = this.#plan.next(this.#isOpen, this.#wantsAll);
    if (run === null) {
      return null;
    }
    return {
      run: this.#ranged ? run : this.#wholePart(this.#files.grid.extentOf(run.first).part),
      answer: null,
    };
  }

  /** A body that is waiting is read before another is asked for. */
  #nextAnswered(): { run: Run; answer: PartAnswer } | null {
    for (const [part, answer] of this.#answers) {
      this.#answers.delete(part);
      const run = this.#wholePart(part);
      const count = answer.ranged
        ? Math.ceil((answer.bodyBytes ?? 0) / this.#files.grid.rangeBytes)
        : run.count;
      return { run: { ...run, count }, answer };
    }
    return null;
  }

  #wholePart(part: number): Run {
    const { first, end } = this.#files.grid.rangesOfPart(part);
    return { first, count: end - first };
  }

  async #connect(run: Run, answer: PartAnswer | null, signal: AbortSignal): Promise<void> {
    const ranges = rangesOf(run);
    ranges.forEach((range) => this.#inFlight.add(range));
    this.#connections += 1;
    let error: unknown = null;
    try {
      await this.#fetchRun(run, answer, signal);
    } catch (thrown) {
      error = thrown;
    }
    ranges.forEach((range) => this.#inFlight.delete(range));
    this.#connections -= 1;
    this.#plan.rewind();
    if (error !== null && !signal.aborted && !(error instanceof RangeIgnored)) {
      this.stop(error);
    } else {
      this.#pump();
    }
  }

  /** Tries again as long as it is worth it: from the byte where it broke, or (whole parts) from the beginning. */
  async #fetchRun(run: Run, firstAnswer: PartAnswer | null, signal: AbortSignal): Promise<void> {
    const whole = !this.#ranged;
    let answer = firstAnswer;
    let assembler = this.#newAssembler(run, signal);
    const received = (): number => this.#files.verifiedBytes + (whole ? 0 : assembler.receivedBytes);
    try {
      for (let attempt = 1; !assembler.isComplete;) {
        const before = received();
        this.#pending.add(assembler);
        try {
          await this.#fetchOnce(run, answer, assembler, signal);
        } catch (error) {
          signal.throwIfAborted();
          attempt = received() > before ? 1 : attempt;
          const waitMs = delayBefore(attempt, error, this.#retry);
          if (waitMs === null) {
            throw error;
          }
          await delay(waitMs, signal);
          attempt += 1;
        }
        answer = null;
        if (whole && !assembler.isComplete) {
          this.#pending.delete(assembler);
          assembler = this.#newAssembler(run, signal);
        }
      }
    } finally {
      this.#pending.delete(assembler);
    }
  }

  #newAssembler(run: Run, signal: AbortSignal): RangeAssembler {
    const sizes = rangesOf(run).map((range) => this.#files.grid.extentOf(range).bytes);
    return new RangeAssembler(sizes, (index, data) => this.#arrived(run.first + index, data, signal));
  }

  async #fetchOnce(
    run: Run,
    firstAnswer: PartAnswer | null,
    assembler: RangeAssembler,
    signal: AbortSignal,
  ): Promise<void> {
    const attempt = new AbortController();
    const info = this.#partOf(run);
    const options = {
      url: info.url,
      stallMs: this.#retry.stallMs,
      signal: AbortSignal.any([signal, attempt.signal]),
    };
    try {
      const answer = firstAnswer ?? (await this.#ask(run, assembler.receivedBytes, options));
      const take = async (chunk: Uint8Array): Promise<void> => {
        if (assembler.isComplete) {
          throw badLength(`${info.url} sends more than its ${info.bytes} bytes`, { url: info.url });
        }
        await assembler.push(chunk);
        this.#progress.changed();
      };
      await readBody(answer, take, options);
      if (!answer.ranged && !assembler.isComplete) {
        throw failed(`${info.url} ended too early`, { url: info.url, announcedBytes: info.bytes });
      }
    } finally {
      attempt.abort();
    }
  }

  async #ask(
    run: Run,
    receivedBytes: number,
    options: { url: string; stallMs: number; signal: AbortSignal },
  ): Promise<PartAnswer> {
    const info = this.#partOf(run);
    const last = this.#files.grid.extentOf(run.first + run.count - 1);
    const range = this.#ranged
      ? {
          first: this.#files.grid.extentOf(run.first).offset + receivedBytes,
          last: last.offset + last.bytes - 1,
        }
      : null;
    const asking = requestPart(info.url, range, info, this.#options, options.signal);
    const answer = await orStalled(asking, options);
    if (range !== null && !answer.ranged) {
      this.#ranged = false;
      await answer.response.body?.cancel().catch(() => undefined);
      throw new RangeIgnored();
    }
    return answer;
  }

  #partOf(run: Run): PartInfo {
    const { part } = this.#files.grid.extentOf(run.first);
    const info = this.#files.parts[part];
    if (info === undefined) {
      throw createError('internal', `there is no part ${part}`);
    }
    return info;
  }

  async #arrived(range: number, data: Uint8Array, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#files.has(range)) {
      return; // a server without ranges sends again what is there
    }
    const { part, offset, bytes } = this.#files.grid.extentOf(range);
    const url = this.#files.parts[part]?.url ?? '';
    if (offset === 0) {
      checkMagic(data, url);
    }
    const expected = this.#files.expectedHash(range);
    if (expected !== null && rangeHash(data) !== expected) {
      throw createError(
        'hash_mismatch',
        `bytes ${offset} to ${offset + bytes} of ${url} are not those that were stored before: ` +
          'if the file was replaced, delete the model and load it again',
        { details: { url, part, offset, bytes } },
      );
    }
    await this.#files.put(range, data);
    this.#settle();
  }

  #settle(): void {
    for (const waiter of this.#waiters) {
      if (waiter.ranges.every((range) => this.#files.has(range))) {
        waiter.done.resolve();
      }
    }
    const whole = this.#whole;
    if (whole !== null && this.#files.isComplete) {
      this.#whole = null;
      this.#wantsAll = false;
      this.#progress.flush();
      this.#files.settle().then(whole.resolve, whole.reject);
    }
  }
}

function rangesOf({ first, count }: Run): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

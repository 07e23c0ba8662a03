// SPDX-License-Identifier: MIT
// A model of the store that is being read, whole or not. A read waits for what is missing, checks what it reads against
// the recorded hashes, and has damaged ranges (and no others) fetched again.

import { SerialQueue } from '../async.js';
import { createError, LayerstreamError, messageOf } from '../errors.js';
import { checkExtent } from '../storage/checks.js';
import type { RangeExtent } from '../storage/grid.js';
import type { ModelFiles } from '../storage/model-files.js';
import { RangeHasher } from '../storage/range-hasher.js';
import type { ModelReader, StorageKind } from '../storage/store-types.js';
import type { ModelDownload } from './model-download.js';

/** When stored bytes are compared with their hashes: at every read, or at a range's first one since it was opened. */
export type VerifyReads = 'always' | 'first';

/** What most models, which are whole and stay so, do not need; it is loaded when it is asked for. */
export interface LiveModelTools {
  /** null: the model came from no URL. */
  newDownload(): ModelDownload | null;
  checkWhole(files: ModelFiles, stated: readonly string[], signal: AbortSignal): Promise<void>;
}

export class LiveModel implements ModelReader {
  readonly files: ModelFiles;
  readonly partBytes: readonly number[];
  verifyReads: VerifyReads = 'first';
  readonly #checked: Uint8Array;
  readonly #closing = new AbortController();
  readonly #tools: () => Promise<LiveModelTools>;
  #starting: Promise<ModelDownload | null> | null = null;
  #download: ModelDownload | null = null;
  readonly #hasher = new RangeHasher();
  /** Users of the hasher's buffer. */
  readonly #checks = new SerialQueue();
  /** The range in that buffer, if it was good. */
  #buffered = -1;
  #whole: Promise<void> | null = null;
  /** The whole turned out to be something else than was stated. */
  #broken: unknown = null;

  /** `download`: one that has begun. */
  constructor(
    files: ModelFiles,
    tools: () => Promise<LiveModelTools>,
    download: ModelDownload | null = null,
  ) {
    this.files = files;
    this.partBytes = files.grid.partBytes;
    this.#tools = tools;
    this.#download = download;
    this.#checked = new Uint8Array(files.grid.count);
  }

  get kind(): StorageKind {
    return this.files.kind;
  }

  /** null: nothing had to be fetched so far. */
  get download(): ModelDownload | null {
    return this.#download;
  }

  /** null: it came from no URL. */
  async startDownload(): Promise<ModelDownload | null> {
    if (this.#download === null) {
      this.#starting ??= this.#tools().then((tools) => tools.newDownload());
      try {
        this.#download = await this.#starting;
      } finally {
        this.#starting = null;
      }
      if (this.#closing.signal.aborted) {
        this.#download?.stop(this.#closing.signal.reason);
      }
    }
    this.#closing.signal.throwIfAborted();
    return this.#download;
  }

  async read(part: number, offset: number, into: Uint8Array, signal?: AbortSignal): Promise<void> {
    const extent = { part, offset, bytes: into.length };
    checkExtent(part, offset, into.length, this.partBytes);
    for (let attempt = 0; attempt < 2; ++attempt) {
      this.#throwIfBroken();
      await this.#present(extent, signal);
      if (await this.#readChecked(extent, into)) {
        return;
      }
    }
    throw this.#damaged(extent, 'they do not stay as they are written');
  }

  /** Settles when everything is stored and, where a SHA-256 was stated, has it. `sha256`: per part, stated now. */
  whole(sha256?: readonly string[]): Promise<void> {
    this.#whole ??= this.#makeWhole(sha256).catch((error: unknown) => {
      this.#whole = null; // may be tried again
      throw error;
    });
    return this.#whole;
  }

  async close(): Promise<void> {
    const reason = createError('disposed', 'the model was closed');
    this.#closing.abort(reason);
    this.#download?.stop(reason);
    await this.files.close();
  }

  async #makeWhole(sha256: readonly string[] | undefined): Promise<void> {
    if (!this.files.isComplete) {
      await (await this.startDownload())?.all();
    }
    const stated = sha256 ?? this.files.parts.map((part) => part.sha256 ?? '');
    if (stated.some((hash) => hash !== '') && (sha256 !== undefined || this.files.wholeIsGood === null)) {
      try {
        const { checkWhole } = await this.#tools();
        await checkWhole(this.files, stated, this.#closing.signal);
      } catch (error) {
        this.#broken = error instanceof LayerstreamError && error.code === 'hash_mismatch' ? error : null;
        throw error;
      }
    }
  }

  #throwIfBroken(): void {
    if (this.#broken !== null) {
      throw this.#broken;
    }
  }

  async #present(extent: RangeExtent, signal: AbortSignal | undefined): Promise<void> {
    const { first, end } = this.files.grid.rangesOf(extent);
    for (let range = first; range < end; ++range) {
      if (this.files.has(range)) {
        continue;
      }
      const wasStored = this.files.expectedHash(range) !== null;
      try {
        const download = await this.startDownload();
        if (download === null) {
          throw createError('io_failed', 'it came from a file, and there is no URL to fetch them from');
        }
        await download.need(extent, signal);
        return;
      } catch (error) {
        signal?.throwIfAborted();
        throw wasStored
          ? this.#damaged(this.files.grid.extentOf(range), messageOf(error), error)
          : named(error, extent);
      }
    }
  }

  #damaged({ part, offset, bytes }: RangeExtent, why: string, cause?: unknown): LayerstreamError {
    const url = this.files.parts[part]?.url ?? this.files.url;
    return createError(
      'range_damaged',
      `bytes ${offset} to ${offset + bytes} of ${url} are damaged in the store and cannot be replaced: ${why}`,
      { details: { url, part, offset, bytes }, cause },
    );
  }

  /** false: stored bytes were not what they had been; their ranges do not count any more. */
  async #readChecked(extent: RangeExtent, into: Uint8Array): Promise<boolean> {
    const { first, end } = this.files.grid.rangesOf(extent);
    const ranges = Array.from({ length: end - first }, (_, i) => first + i);
    if (ranges.every((range) => this.#isTrusted(range))) {
      await this.files.read(extent.part, extent.offset, into);
      return true;
    }
    return this.#checks.run(async () => {
      let good = true;
      for (const range of ranges) {
        if (await this.#bufferGood(range)) {
          this.#copyBuffered(range, extent, into);
        } else {
          await this.files.revoke(range);
          good = false;
        }
      }
      return good;
    });
  }

  #isTrusted(range: number): boolean {
    return this.verifyReads === 'first' && this.#checked[range] === 1;
  }

  /** Reads the whole range into the hasher's buffer. What is copied from there is what was checked. */
  async #bufferGood(range: number): Promise<boolean> {
    if (this.#buffered === range && this.#isTrusted(range)) {
      return true;
    }
    this.#buffered = -1;
    const { part, offset, bytes } = this.files.grid.extentOf(range);
    await this.files.read(part, offset, this.#hasher.buffer(bytes));
    const hash = this.#hasher.hash(bytes);
    const expected = this.files.expectedHash(range);
    if (expected === null) {
      await this.files.adopt(range, hash);
    } else if (expected !== hash) {
      return false;
    }
    this.#checked[range] = 1;
    this.#buffered = range;
    return true;
  }

  /** What `into` holds of the range. */
  #copyBuffered(range: number, extent: RangeExtent, into: Uint8Array): void {
    const { offset, bytes } = this.files.grid.extentOf(range);
    const from = Math.max(offset, extent.offset);
    const to = Math.min(offset + bytes, extent.offset + extent.bytes);
    into.set(this.#hasher.buffer(bytes).subarray(from - offset, to - offset), from - extent.offset);
  }
}

/** The same error, with the bytes that were wanted. */
function named(error: unknown, { part, offset, bytes }: RangeExtent): unknown {
  if (!(error instanceof LayerstreamError)) {
    return error;
  }
  const message = `bytes ${offset} to ${offset + bytes} of part ${part} are not here: ${error.message}`;
  return createError(error.code, message, {
    details: { ...error.details, part, offset, bytes },
    cause: error.cause,
  });
}

// SPDX-License-Identifier: MIT
// One open model of the store, whole or not: reads bytes, takes in ranges, and keeps the journal. A complete model is
// open read-only, so that several tabs can read; taking in a range of one (a repair) opens it for writing meanwhile.

import { createError, errorName, messageOf } from '../errors.js';
import { checkExtent, shortRead, storageError } from './checks.js';
import type { ByteFile, ModelFolder, OpenMode } from './folder.js';
import { RangeGrid } from './grid.js';
import { decodeEvent, encodeEvent, JournalState, recordBytes, type JournalEvent } from './journal.js';
import type { Manifest } from './manifest.js';
import { rangeHash } from './range-hash.js';
import type { PartInfo, StorageKind, StoredState } from './store-types.js';

export const journalName = 'journal.bin';
export const partName = (index: number): string => `part-${String(index).padStart(5, '0')}.gguf`;

/** Ranges taken in between two flushes. What a crash of the machine loses in between shows by its hash. */
const rangesPerFlush = 16;

/** What model.json and the journal say, and the sizes of the files. */
export async function readState(
  folder: ModelFolder,
  manifest: Manifest,
  grid: RangeGrid,
): Promise<JournalState> {
  const state = new JournalState(grid.count);
  const journal = (await folder.readBytes(journalName)) ?? new Uint8Array();
  for (let at = 0; at + recordBytes <= journal.length; at += recordBytes) {
    const event = decodeEvent(journal.subarray(at, at + recordBytes), manifest.generation);
    if (event !== null) {
      state.apply(event);
    }
  }
  for (const part of manifest.parts.keys()) {
    const stored = (await folder.openBeside(partName(part)))?.size() ?? 0;
    const { first, end } = grid.rangesOfPart(part);
    for (let range = first; range < end; ++range) {
      const { offset, bytes } = grid.extentOf(range);
      if (state.hashes[range] !== null && offset + bytes > stored) {
        state.apply({ kind: 'revoked', range });
      }
    }
  }
  return state;
}

export function summary(state: JournalState, grid: RangeGrid): { state: StoredState; bytes: number } {
  let bytes = 0;
  state.hashes.forEach((hash, range) => (bytes += hash === null ? 0 : grid.extentOf(range).bytes));
  const isDamaged = state.revokedHashes.size > 0 || state.wholeIsGood === false;
  return { state: isDamaged ? 'damaged' : bytes === grid.totalBytes ? 'complete' : 'partial', bytes };
}

export class ModelFiles {
  readonly url: string;
  readonly kind: StorageKind;
  readonly parts: readonly PartInfo[];
  readonly grid: RangeGrid;
  readonly #folder: ModelFolder;
  readonly #generation: number;
  readonly #state: JournalState;
  #files: ByteFile[] = [];
  /** Open while the parts are open for writing. */
  #journal: ByteFile | null = null;
  #mode: OpenMode = 'read-only';
  /** Repaired ranges that could not be written: another tab reads the files. */
  readonly #beside = new Map<number, Uint8Array>();
  /** Files are being closed and opened again. */
  #reopening: Promise<void> | null = null;
  /** What else is written to the folder. */
  #beingWritten: Promise<void> = Promise.resolve();
  #unflushed = 0;
  #verifiedBytes: number;

  private constructor(folder: ModelFolder, kind: StorageKind, manifest: Manifest, state: JournalState) {
    this.url = manifest.url;
    this.kind = kind;
    this.parts = manifest.parts;
    this.grid = new RangeGrid(
      manifest.parts.map((part) => part.bytes),
      manifest.rangeBytes,
    );
    this.#folder = folder;
    this.#generation = manifest.generation;
    this.#state = state;
    this.#verifiedBytes = summary(state, this.grid).bytes;
  }

  /** Throws what the file system throws; a complete model that somebody else holds exclusively is read beside it. */
  static async open(folder: ModelFolder, kind: StorageKind, manifest: Manifest): Promise<ModelFiles> {
    const files = await ModelFiles.#found(folder, kind, manifest);
    await files.#openParts(files.isComplete ? 'read-only' : 'readwrite');
    return files;
  }

  /** null, and no file was opened, while ranges are missing. */
  static async openWhole(
    folder: ModelFolder,
    kind: StorageKind,
    manifest: Manifest,
  ): Promise<ModelFiles | null> {
    const files = await ModelFiles.#found(folder, kind, manifest);
    if (!files.isComplete) {
      return null;
    }
    await files.#openParts('read-only');
    return files;
  }

  static async #found(folder: ModelFolder, kind: StorageKind, manifest: Manifest): Promise<ModelFiles> {
    const grid = new RangeGrid(
      manifest.parts.map((part) => part.bytes),
      manifest.rangeBytes,
    );
    return new ModelFiles(folder, kind, manifest, await readState(folder, manifest, grid));
  }

  get state(): StoredState {
    return summary(this.#state, this.grid).state;
  }

  get verifiedBytes(): number {
    return this.#verifiedBytes;
  }

  /** No range is missing. */
  get isComplete(): boolean {
    return this.#verifiedBytes === this.grid.totalBytes;
  }

  has(range: number): boolean {
    return (this.#state.hashes[range] ?? null) !== null;
  }

  /** null: whatever comes is right. */
  expectedHash(range: number): string | null {
    return this.#state.hashes[range] || this.#state.revokedHashes.get(range) || null;
  }

  /** Of the whole, against the stated SHA-256; null: not compared. */
  get wholeIsGood(): boolean | null {
    return this.#state.wholeIsGood;
  }

  /** Bytes as they lie there, believed or not. */
  async read(part: number, offset: number, into: Uint8Array): Promise<void> {
    checkExtent(part, offset, into.length, this.grid.partBytes);
    while (this.#reopening !== null) {
      await this.#reopening;
    }
    let count: number;
    try {
      count = (await this.#files[part]?.read(into, offset)) ?? 0;
    } catch (error) {
      throw createError('io_failed', `part ${part} could not be read at ${offset}: ${messageOf(error)}`, {
        details: { part, offset, bytes: into.length },
        cause: error,
      });
    }
    if (count !== into.length && this.#beside.size === 0) {
      throw shortRead(part, offset, into.length, count);
    }
    this.#overlay({ part, offset, bytes: into.length }, into);
  }

  /** Takes in a whole range, whose bytes are believed from now on. storage_quota if there is no room. */
  async put(range: number, data: Uint8Array): Promise<void> {
    const { part, offset } = this.grid.extentOf(range);
    const event: JournalEvent = { kind: 'verified', range, hash: rangeHash(data) };
    try {
      if (this.#mode === 'readwrite' || (await this.#reopen('readwrite'))) {
        this.#files[part]?.write(data, offset);
        await this.#note(event);
        this.#unflushed += 1;
        if (this.#unflushed >= rangesPerFlush) {
          this.flush();
        }
      } else {
        this.#beside.set(range, data.slice());
        this.#apply(event);
      }
    } catch (error) {
      throw storageError(error, this.url);
    }
  }

  /** The bytes are not what they were. */
  async revoke(range: number): Promise<void> {
    this.#beside.delete(range);
    await this.#note({ kind: 'revoked', range });
  }

  /** Remembers the hash of a range that counted without one (format 1). */
  async adopt(range: number, hash: string): Promise<void> {
    await this.#note({ kind: 'verified', range, hash });
  }

  async noteWhole(good: boolean): Promise<void> {
    await this.#note({ kind: 'whole', good });
  }

  flush(): void {
    this.#unflushed = 0;
    if (this.#mode === 'readwrite') {
      this.#files.forEach((file) => file.flush());
      this.#journal?.flush();
    }
  }

  /** After the last range: others may read now. */
  async settle(): Promise<void> {
    if (this.isComplete && this.#mode === 'readwrite') {
      this.flush();
      await this.#reopen('read-only');
    }
  }

  /** Nobody waits for `work`, but the folder is not let go before it ends. It does not reject. */
  closeAfter(work: Promise<void>): void {
    this.#beingWritten = work;
  }

  async close(): Promise<void> {
    await this.#beingWritten;
    while (this.#reopening !== null) {
      await this.#reopening;
    }
    this.#closeParts();
  }

  #overlay(extent: { part: number; offset: number; bytes: number }, into: Uint8Array): void {
    if (this.#beside.size === 0) {
      return;
    }
    const { first, end } = this.grid.rangesOf(extent);
    for (let range = first; range < end; ++range) {
      const data = this.#beside.get(range);
      if (data !== undefined) {
        const at = this.grid.extentOf(range).offset - extent.offset;
        into.set(data.subarray(Math.max(0, -at), extent.bytes - at), Math.max(0, at));
      }
    }
  }

  #apply(event: JournalEvent): void {
    const range = event.kind === 'verified' || event.kind === 'revoked' ? event.range : null;
    const before = range === null || this.has(range);
    this.#state.apply(event);
    if (range !== null && before !== this.has(range)) {
      this.#verifiedBytes += (before ? -1 : 1) * this.grid.extentOf(range).bytes;
    }
  }

  async #note(event: JournalEvent): Promise<void> {
    if (this.#journal !== null) {
      appendEvent(this.#journal, event, this.#generation);
    } else {
      await this.#noteBeside(event);
    }
    this.#apply(event);
  }

  /** Unless somebody else is writing there this moment: what is not noted would only be found again. */
  async #noteBeside(event: JournalEvent): Promise<void> {
    let journal: ByteFile | null = null;
    try {
      journal = await this.#folder.open(journalName, 'readwrite');
      if (journal !== null) {
        appendEvent(journal, event, this.#generation);
      }
    } catch (error) {
      if (errorName(error) !== 'NoModificationAllowedError') {
        throw error;
      }
    } finally {
      journal?.close();
    }
  }

  /** false: somebody else has the files, and they are open as before. */
  async #reopen(mode: OpenMode): Promise<boolean> {
    while (this.#reopening !== null) {
      await this.#reopening;
    }
    if (this.#mode === mode) {
      return true;
    }
    const before = this.#mode;
    const work = async (): Promise<boolean> => {
      this.#closeParts();
      try {
        await this.#openParts(mode);
        return true;
      } catch (error) {
        await this.#openParts(before);
        if (errorName(error) !== 'NoModificationAllowedError') {
          throw error;
        }
        return false;
      }
    };
    const done = work();
    this.#reopening = done.then(
      () => void (this.#reopening = null),
      () => void (this.#reopening = null),
    );
    return done;
  }

  async #openParts(mode: OpenMode): Promise<void> {
    const opened: ByteFile[] = [];
    try {
      for (const part of this.parts.keys()) {
        opened.push(await this.#openPart(partName(part), mode));
      }
      this.#journal = mode === 'readwrite' ? await this.#folder.open(journalName, mode) : null;
    } catch (error) {
      opened.forEach((file) => file.close());
      throw error;
    }
    this.#files = opened;
    this.#mode = mode;
  }

  async #openPart(name: string, mode: OpenMode): Promise<ByteFile> {
    let file: ByteFile | null;
    try {
      file = await this.#folder.open(name, mode);
    } catch (error) {
      if (mode === 'readwrite' || errorName(error) !== 'NoModificationAllowedError') {
        throw error;
      }
      file = await this.#folder.openBeside(name);
    }
    if (file === null) {
      throw new DOMException(`${name} was not found`, 'NotFoundError');
    }
    return file;
  }

  #closeParts(): void {
    this.#files.splice(0).forEach((file) => file.close());
    this.#journal?.close();
    this.#journal = null;
  }
}

/** Over a record that was cut, behind whole ones. */
export function appendEvent(journal: ByteFile, event: JournalEvent, generation: number): void {
  const size = journal.size();
  journal.write(encodeEvent(event, generation), size - (size % recordBytes));
}

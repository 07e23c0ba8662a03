// SPDX-License-Identifier: MIT
// The models of this origin, over any backend. tests/conformance/store-suite.ts is the contract in executable form;
// layout and states: docs/formats/store.md.

import { createError } from '../errors.js';
import { hasMagic, storageError } from './checks.js';
import type { ByteFile, ModelFolder, StoreBackend } from './folder.js';
import { defaultRangeBytes, RangeGrid } from './grid.js';
import { formatManifest, manifestFormat, parseFormat1, parseManifest, type Manifest } from './manifest.js';
import { appendEvent, journalName, ModelFiles, partName, readState, summary } from './model-files.js';
import type { PartInfo, StorageKind, StoredModel } from './store-types.js';
import { UnsizedFiles } from './unsized-files.js';

const manifestName = 'model.json';
const format1Name = 'manifest.json';
/** Holds the time of last use; apart from the manifest, which must not be at risk for it. */
const usedName = 'used.json';

/** 128 bits of two hashes would do as well, but crypto.subtle is there wherever files are. */
async function folderName(url: string): Promise<string> {
  const bytes = new TextEncoder().encode(url);
  if (globalThis.crypto?.subtle === undefined) {
    return encodeURIComponent(url); // an insecure page, which has no files: names in memory may be long
  }
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function readText(folder: ModelFolder, name: string): Promise<string | null> {
  const bytes = await folder.readBytes(name);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

async function readManifest(folder: ModelFolder): Promise<Manifest | null> {
  const text = await readText(folder, manifestName);
  return text === null ? null : parseManifest(text);
}

async function appendToJournal(folder: ModelFolder, generation: number, hashes: readonly string[] | null) {
  const journal = await folder.open(journalName, 'readwrite');
  if (journal === null) {
    return;
  }
  try {
    if (hashes === null) {
      appendEvent(journal, { kind: 'adopted' }, generation);
    } else {
      hashes.forEach((hash, range) => appendEvent(journal, { kind: 'verified', range, hash }, generation));
    }
    journal.flush();
  } finally {
    journal.close();
  }
}

export class ModelStore {
  readonly #backend: StoreBackend;
  readonly #rangeBytes: number;

  /** `rangeBytes`: of models stored from now on. */
  constructor(backend: StoreBackend, rangeBytes = defaultRangeBytes) {
    this.#backend = backend;
    this.#rangeBytes = rangeBytes;
  }

  get kind(): StorageKind {
    return this.#backend.kind;
  }

  get freeBytes(): number {
    return this.#backend.freeBytes;
  }

  /** Everything there is, interrupted downloads included. */
  async list(): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for (const name of await this.#backend.names()) {
      const folder = await this.#backend.folder(name, false).catch(() => null);
      const manifest = folder === null ? null : await this.#manifest(folder);
      if (folder === null || manifest === null) {
        continue;
      }
      const grid = gridOf(manifest);
      const { state, bytes } = summary(await readState(folder, manifest, grid), grid);
      models.push({
        url: manifest.url,
        state,
        bytes,
        totalBytes: grid.totalBytes,
        complete: state === 'complete',
        lastUsed: Number((await readText(folder, usedName)) ?? 0) || 0,
      });
    }
    return models;
  }

  /** null: absent. storage_busy: somebody else holds it exclusively. */
  open(url: string): Promise<ModelFiles | null> {
    return this.#openBy(ModelFiles.open, url);
  }

  /** null: absent, or ranges are missing. Disturbs nobody who is storing it. */
  openWhole(url: string): Promise<ModelFiles | null> {
    return this.#openBy(ModelFiles.openWhole, url);
  }

  /** Begins to store `url`, instead of what may be there. storage_busy while somebody else has it open. */
  async create(url: string, parts: readonly PartInfo[]): Promise<ModelFiles> {
    try {
      const folder = await this.#cleared(url);
      const manifest = this.#newManifest(url, parts);
      await folder.writeText(manifestName, formatManifest(manifest));
      return await ModelFiles.open(folder, this.kind, manifest);
    } catch (error) {
      throw storageError(error, url);
    }
  }

  /** The same for parts whose length nobody knows: nothing counts before finish(). */
  async createUnsized(url: string): Promise<UnsizedFiles> {
    try {
      const folder = await this.#cleared(url);
      return new UnsizedFiles(url, folder, this.#rangeBytes, async (parts, hashes) => {
        const manifest = this.#newManifest(url, parts);
        await appendToJournal(folder, manifest.generation, hashes);
        await folder.writeText(manifestName, formatManifest(manifest));
      });
    } catch (error) {
      throw storageError(error, url);
    }
  }

  /** false: there was nothing. storage_busy while it is open. */
  async remove(url: string): Promise<boolean> {
    const name = await folderName(url);
    try {
      const folder = await this.#backend.folder(name, false);
      if (folder === null) {
        return false;
      }
      await this.#cleared(url);
      await this.#backend.removeFolder(name);
      return true;
    } catch (error) {
      throw storageError(error, url);
    }
  }

  async #openBy(
    open: (folder: ModelFolder, kind: StorageKind, manifest: Manifest) => Promise<ModelFiles | null>,
    url: string,
  ): Promise<ModelFiles | null> {
    try {
      const folder = await this.#backend.folder(await folderName(url), false);
      const manifest = folder === null ? null : await this.#manifest(folder);
      if (folder === null || manifest?.url !== url) {
        return null;
      }
      const files = await open(folder, this.kind, manifest);
      files?.closeAfter(this.#noteUse(folder));
      return files;
    } catch (error) {
      throw storageError(error, url);
    }
  }

  /** An empty folder. The manifest goes first, so that what is left of a crash is nothing. */
  async #cleared(url: string): Promise<ModelFolder> {
    const folder = await this.#backend.folder(await folderName(url), true);
    if (folder === null) {
      throw createError('internal', 'a folder that was created is not there');
    }
    // Exclusive: whoever reads or writes this model makes this throw, before anything was changed.
    const first: ByteFile | null = await folder.open(partName(0), 'readwrite');
    try {
      await folder.remove(format1Name);
      await folder.remove(manifestName);
    } finally {
      first?.close();
    }
    for (const name of await folder.names()) {
      await folder.remove(name);
    }
    return folder;
  }

  #newManifest(url: string, parts: readonly PartInfo[]): Manifest {
    const generation = Math.floor(Math.random() * 2 ** 32);
    return { format: manifestFormat, url, generation, rangeBytes: this.#rangeBytes, parts: [...parts] };
  }

  async #manifest(folder: ModelFolder): Promise<Manifest | null> {
    return (await readManifest(folder)) ?? (await this.#migrate(folder));
  }

  /** A complete model of format 1, if its parts are what its manifest says. Its ranges count as they are; their hashes
   *  are noted when they are first read. The journal goes first: cutting this anywhere leaves the one or the other. */
  async #migrate(folder: ModelFolder): Promise<Manifest | null> {
    const text = await readText(folder, format1Name);
    const old = text === null ? null : parseFormat1(text);
    if (old === null) {
      return null;
    }
    for (const [index, { bytes }] of old.parts.entries()) {
      const file = await folder.openBeside(partName(index));
      const head = new Uint8Array(4);
      await file?.read(head, 0);
      if (file?.size() !== bytes || !hasMagic(head)) {
        return null;
      }
    }
    const manifest = this.#newManifest(old.url, old.parts);
    await appendToJournal(folder, manifest.generation, null);
    await folder.writeText(manifestName, formatManifest(manifest));
    await folder.remove(format1Name);
    return manifest;
  }

  /** Nothing depends on it: another tab may be writing the same number, or the disk be full. */
  async #noteUse(folder: ModelFolder): Promise<void> {
    await folder.writeText(usedName, String(Date.now())).catch(() => undefined);
  }
}

function gridOf(manifest: Manifest): RangeGrid {
  return new RangeGrid(
    manifest.parts.map((part) => part.bytes),
    manifest.rangeBytes,
  );
}

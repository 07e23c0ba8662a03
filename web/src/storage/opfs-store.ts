// SPDX-License-Identifier: MIT
// Models in the origin's private file system, through sync access handles: 28 GB/s warm where a Blob gives 0.5
// (measured in Chromium). Must run in a dedicated worker, and in only one per page: handles are exclusive in some
// browsers. Layout and states: docs/formats/store.md.

import { createError, errorName, LayerstreamError, messageOf } from '../errors.js';
import { BlobReader } from './blob-reader.js';
import { busy, checkExtent, checkStoredPart, hasMagic, shortRead } from './checks.js';
import { formatManifest, manifestFormat, parseManifest, type Manifest } from './manifest.js';
import type {
  ModelReader,
  ModelStore,
  ModelWriter,
  PartInfo,
  StorageKind,
  StoredModel,
} from './model-store.js';
import type { OpfsDirectory, OpfsFile, SyncHandle } from './opfs-types.js';

const manifestName = 'manifest.json';
/** Holds the time of last use; apart from the manifest, which must not be at risk for it. */
const usedName = 'used.json';

const partName = (index: number): string => `part-${String(index).padStart(5, '0')}.gguf`;

/** Our words for what the File System API throws. */
function storageError(error: unknown, url: string): unknown {
  switch (errorName(error)) {
    case 'NoModificationAllowedError':
    case 'InvalidStateError':
      return busy(url, error);
    case 'QuotaExceededError':
      return createError('storage_quota', `the browser gives no more storage for ${url}`, {
        details: { url },
        cause: error,
      });
    default:
      return error instanceof LayerstreamError
        ? error
        : createError('storage_failed', `the browser's file system refused ${url}: ${messageOf(error)}`, {
            details: { url, name: errorName(error) },
            cause: error,
          });
  }
}

async function orNull<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if (errorName(error) === 'NotFoundError') {
      return null;
    }
    throw error;
  }
}

async function openHandle(file: OpfsFile, mode: 'readwrite' | 'read-only'): Promise<SyncHandle> {
  if (file.createSyncAccessHandle === undefined) {
    throw createError('storage_failed', 'this browser has no sync access handles');
  }
  return file.createSyncAccessHandle({ mode });
}

/** Loops, because write() may take less than it was given. */
function writeAll(handle: SyncHandle, at: number, data: Uint8Array): void {
  for (let done = 0; done < data.length;) {
    const count = handle.write(data.subarray(done), { at: at + done });
    if (count <= 0) {
      throw createError('storage_failed', `nothing could be written at ${at + done}`);
    }
    done += count;
  }
}

async function writeText(folder: OpfsDirectory, name: string, text: string): Promise<void> {
  const handle = await openHandle(await folder.getFileHandle(name, { create: true }), 'readwrite');
  try {
    const bytes = new TextEncoder().encode(text);
    handle.truncate(0);
    writeAll(handle, 0, bytes);
    handle.flush();
  } finally {
    handle.close();
  }
}

async function readText(folder: OpfsDirectory, name: string): Promise<string | null> {
  const file = await orNull(folder.getFileHandle(name));
  return file === null ? null : (await file.getFile()).text();
}

async function folderName(url: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(url)));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

class OpfsReader implements ModelReader {
  readonly kind: StorageKind = 'opfs';
  readonly partBytes: readonly number[];
  readonly #handles: readonly SyncHandle[];

  constructor(handles: readonly SyncHandle[]) {
    this.#handles = handles;
    this.partBytes = handles.map((handle) => handle.getSize());
  }

  async read(part: number, offset: number, into: Uint8Array): Promise<void> {
    checkExtent(part, offset, into.length, this.partBytes);
    const handle = this.#handles[part];
    let done = 0;
    while (handle !== undefined && done < into.length) {
      let count: number;
      try {
        count = handle.read(into.subarray(done), { at: offset + done });
      } catch (error) {
        throw createError('io_failed', `part ${part} could not be read at ${offset}: ${messageOf(error)}`, {
          details: { part, offset, bytes: into.length },
          cause: error,
        });
      }
      if (count <= 0) {
        throw shortRead(part, offset, into.length, done);
      }
      done += count;
    }
  }

  async close(): Promise<void> {
    for (const handle of this.#handles) {
      handle.close();
    }
  }
}

class OpfsWriter implements ModelWriter {
  readonly #url: string;
  readonly #folder: OpfsDirectory;
  readonly #discardFolder: () => Promise<void>;
  readonly #handles: SyncHandle[];

  /** `first`: part 0, open; holding it keeps other tabs from writing the same model. */
  constructor(url: string, folder: OpfsDirectory, first: SyncHandle, discardFolder: () => Promise<void>) {
    this.#url = url;
    this.#folder = folder;
    this.#handles = [first];
    this.#discardFolder = discardFolder;
  }

  async write(part: number, offset: number, data: Uint8Array): Promise<void> {
    try {
      for (let index = this.#handles.length; index <= part; ++index) {
        const file = await this.#folder.getFileHandle(partName(index), { create: true });
        this.#handles.push(await openHandle(file, 'readwrite'));
      }
      const handle = this.#handles[part];
      if (handle !== undefined) {
        writeAll(handle, offset, data);
      }
    } catch (error) {
      throw storageError(error, this.#url);
    }
  }

  async complete(parts: readonly PartInfo[]): Promise<void> {
    try {
      parts.forEach((part, index) => {
        const handle = this.#handles[index];
        const head = new Uint8Array(4);
        handle?.flush();
        handle?.read(head, { at: 0 });
        checkStoredPart(part, handle?.getSize() ?? 0, head);
      });
      const manifest: Manifest = {
        format: manifestFormat,
        url: this.#url,
        complete: true,
        parts: parts.map((part, index) => ({ file: partName(index), ...part })),
      };
      await writeText(this.#folder, manifestName, formatManifest(manifest));
      this.#closeHandles();
    } catch (error) {
      throw storageError(error, this.#url);
    }
  }

  async discard(): Promise<void> {
    this.#closeHandles();
    await this.#discardFolder();
  }

  #closeHandles(): void {
    for (const handle of this.#handles.splice(0)) {
      handle.close();
    }
  }
}

export class OpfsStore implements ModelStore {
  readonly kind: StorageKind = 'opfs';
  readonly #root: OpfsDirectory;

  private constructor(root: OpfsDirectory) {
    this.#root = root;
  }

  /** `origin`: navigator.storage.getDirectory(). Throws if sync access handles do not work here. */
  static async open(origin: OpfsDirectory): Promise<OpfsStore> {
    const base = await origin.getDirectoryHandle('layerstream', { create: true });
    const root = await base.getDirectoryHandle('models', { create: true });
    const probe = await root.getFileHandle('probe', { create: true });
    if (probe.createSyncAccessHandle === undefined) {
      throw createError('storage_failed', 'this browser has no sync access handles');
    }
    return new OpfsStore(root);
  }

  async list(): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for await (const name of this.#root.keys()) {
      const folder = await this.#folderAt(name);
      const manifest = folder === null ? null : await this.#manifest(folder);
      if (folder === null || manifest === null) {
        continue;
      }
      const sizes = await this.#sizes(folder, manifest.complete ? manifest.parts.length : Infinity);
      const intact = manifest.complete && manifest.parts.every((part, index) => part.bytes === sizes[index]);
      models.push({
        url: manifest.url,
        bytes: sizes.reduce((sum, size) => sum + size, 0),
        complete: intact,
        lastUsed: await this.#lastUsed(folder),
      });
    }
    return models;
  }

  async open(url: string): Promise<ModelReader | null> {
    try {
      const folder = await this.#folderAt(await folderName(url));
      const manifest = folder === null ? null : await this.#manifest(folder);
      if (folder === null || manifest === null || !manifest.complete || manifest.url !== url) {
        return null;
      }
      const reader = await this.#openParts(folder, manifest);
      if (reader !== null) {
        await this.#noteUse(folder);
      }
      return reader;
    } catch (error) {
      throw storageError(error, url);
    }
  }

  async create(url: string): Promise<ModelWriter> {
    const name = await folderName(url);
    try {
      const folder = await this.#root.getDirectoryHandle(name, { create: true });
      // Exclusive: whoever reads or writes this model makes this throw, before anything was changed.
      const first = await openHandle(await folder.getFileHandle(partName(0), { create: true }), 'readwrite');
      try {
        const manifest: Manifest = { format: manifestFormat, url, complete: false, parts: [] };
        await writeText(folder, manifestName, formatManifest(manifest));
        first.truncate(0);
        for (const file of await this.#names(folder)) {
          if (file.startsWith('part-') && file !== partName(0)) {
            await folder.removeEntry(file);
          }
        }
      } catch (error) {
        first.close();
        throw error;
      }
      return new OpfsWriter(url, folder, first, () => this.#root.removeEntry(name, { recursive: true }));
    } catch (error) {
      throw storageError(error, url);
    }
  }

  async remove(url: string): Promise<boolean> {
    const name = await folderName(url);
    try {
      const folder = await this.#folderAt(name);
      if (folder === null) {
        return false;
      }
      // The first part goes first: if it is open somewhere, nothing was changed.
      await orNull(folder.removeEntry(partName(0)));
      await this.#root.removeEntry(name, { recursive: true });
      return true;
    } catch (error) {
      throw storageError(error, url);
    }
  }

  /** null if a part is missing or is not what the manifest says. */
  async #openParts(folder: OpfsDirectory, manifest: Manifest): Promise<ModelReader | null> {
    const handles: SyncHandle[] = [];
    const files: OpfsFile[] = [];
    const closeAll = (): void => handles.forEach((handle) => handle.close());
    for (const part of manifest.parts) {
      const file = await orNull(folder.getFileHandle(part.file));
      if (file === null) {
        return null;
      }
      files.push(file);
    }
    let reader: ModelReader;
    try {
      for (const file of files) {
        handles.push(await openHandle(file, 'read-only'));
      }
      reader = new OpfsReader(handles);
    } catch (error) {
      closeAll();
      if (errorName(error) !== 'NoModificationAllowedError') {
        throw error;
      }
      // Another tab of a browser where handles are always exclusive: read beside it.
      reader = new BlobReader(await Promise.all(files.map((file) => file.getFile())), this.kind);
    }
    for (const [index, part] of manifest.parts.entries()) {
      const head = new Uint8Array(4);
      const sizeIsRight = reader.partBytes[index] === part.bytes && part.bytes >= head.length;
      if (sizeIsRight) {
        await reader.read(index, 0, head);
      }
      if (!sizeIsRight || !hasMagic(head)) {
        await reader.close();
        return null;
      }
    }
    return reader;
  }

  async #folderAt(name: string): Promise<OpfsDirectory | null> {
    try {
      return await this.#root.getDirectoryHandle(name);
    } catch (error) {
      if (errorName(error) === 'NotFoundError' || errorName(error) === 'TypeMismatchError') {
        return null;
      }
      throw error;
    }
  }

  async #manifest(folder: OpfsDirectory): Promise<Manifest | null> {
    const text = await readText(folder, manifestName);
    return text === null ? null : parseManifest(text);
  }

  async #names(folder: OpfsDirectory): Promise<string[]> {
    const names: string[] = [];
    for await (const name of folder.keys()) {
      names.push(name);
    }
    return names;
  }

  /** Bytes of the parts that are there, in order. */
  async #sizes(folder: OpfsDirectory, limit: number): Promise<number[]> {
    const sizes: number[] = [];
    while (sizes.length < limit) {
      const file = await orNull(folder.getFileHandle(partName(sizes.length)));
      if (file === null) {
        break;
      }
      sizes.push((await file.getFile()).size);
    }
    return sizes;
  }

  async #lastUsed(folder: OpfsDirectory): Promise<number> {
    const time = Number((await readText(folder, usedName)) ?? 0);
    return Number.isFinite(time) ? time : 0;
  }

  /** Another tab may be writing the same number: then it is written. */
  async #noteUse(folder: OpfsDirectory): Promise<void> {
    try {
      await writeText(folder, usedName, String(Date.now()));
    } catch (error) {
      if (errorName(error) !== 'NoModificationAllowedError' && errorName(error) !== 'QuotaExceededError') {
        throw error;
      }
    }
  }
}

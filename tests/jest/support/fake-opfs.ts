// SPDX-License-Identifier: MIT
// The browser's private file system over a folder of the disk, so that OpfsStore runs in node as it is. Behaves as
// measured: readwrite handles are exclusive, read-only ones are shared among themselves (or, as in Firefox, the mode
// is ignored), an open file cannot be removed, errors are DOMExceptions. Can be given a quota and faults.

import fs from 'node:fs';
import path from 'node:path';
import type { OpfsDirectory, OpfsFile, SyncHandle } from '#web/storage/opfs-types.js';

export interface FakeOpfsOptions {
  /** false: createSyncAccessHandle ignores `mode`. */
  readOnlyMode?: boolean;
  quotaBytes?: number;
  /** Reads and writes take at most this many bytes. */
  maxTransfer?: number;
}

export class FakeOpfs {
  readonly folder: string;
  readonly options: FakeOpfsOptions;
  /** Path -> handles on it; -1 for an exclusive one. */
  readonly locks: Map<string, number>;
  /** Ends the handles of this process. */
  readonly ends = new Set<() => void>();
  /** Writes that happened, e.g. to cut a sequence of them. */
  writes = 0;
  /** Throws at this write (counted from 1), as a crash would cut the sequence there. */
  failAtWrite = Infinity;
  /** Bytes of the largest read. */
  largestRead = 0;
  /** Throws at every read. */
  failReads = false;

  constructor(folder: string, options: FakeOpfsOptions = {}, locks = new Map<string, number>()) {
    this.folder = folder;
    this.options = options;
    this.locks = locks;
  }

  get root(): OpfsDirectory {
    return directory(this, this.folder);
  }

  /** As after the end of the process: handles are gone, bytes stay. */
  restart(): FakeOpfs {
    return new FakeOpfs(this.folder, this.options);
  }

  /** The same files, as another process sees them. */
  beside(): FakeOpfs {
    return new FakeOpfs(this.folder, this.options, this.locks);
  }

  /** The end of this process: its handles are gone, and whatever it still tries fails. */
  kill(): void {
    this.failAtWrite = 0;
    [...this.ends].forEach((end) => end());
  }

  get openHandles(): number {
    return [...this.locks.values()].reduce((sum, count) => sum + Math.abs(count), 0);
  }
}

function notFound(name: string): DOMException {
  return new DOMException(`${name} was not found`, 'NotFoundError');
}

function locked(name: string): DOMException {
  return new DOMException(`${name} is locked`, 'NoModificationAllowedError');
}

function usedBytes(folder: string): number {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

function handleOn(opfs: FakeOpfs, full: string, mode: 'readwrite' | 'read-only'): SyncHandle {
  const shared = mode === 'read-only' && opfs.options.readOnlyMode !== false;
  const count = opfs.locks.get(full) ?? 0;
  if (count < 0 || (count > 0 && !shared)) {
    throw locked(full);
  }
  opfs.locks.set(full, shared ? count + 1 : -1);
  const fd = fs.openSync(full, 'r+');
  const limit = opfs.options.maxTransfer ?? Infinity;
  let open = true;
  const close = (): void => {
    if (open) {
      open = false;
      opfs.ends.delete(close);
      fs.closeSync(fd);
      opfs.locks.set(full, shared ? (opfs.locks.get(full) ?? 1) - 1 : 0);
    }
  };
  opfs.ends.add(close);
  const checkOpen = (): void => {
    if (!open) {
      throw new DOMException('the handle is closed', 'InvalidStateError');
    }
  };
  return {
    read: (into, { at }) => {
      checkOpen();
      if (opfs.failReads) {
        throw new DOMException('the disk failed', 'NotReadableError');
      }
      opfs.largestRead = Math.max(opfs.largestRead, into.length);
      return fs.readSync(fd, into, 0, Math.min(into.length, limit), at);
    },
    write: (data, { at }) => {
      checkOpen();
      if (shared) {
        throw locked(full);
      }
      opfs.writes += 1;
      if (opfs.writes >= opfs.failAtWrite) {
        throw new DOMException('the process ends here', 'AbortError');
      }
      const bytes = Math.min(data.length, limit);
      const { quotaBytes } = opfs.options;
      const grows = Math.max(0, at + bytes - fs.fstatSync(fd).size);
      if (quotaBytes !== undefined && usedBytes(opfs.folder) + grows > quotaBytes) {
        throw new DOMException('no room', 'QuotaExceededError');
      }
      return fs.writeSync(fd, data, 0, bytes, at);
    },
    truncate: (bytes) => {
      checkOpen();
      fs.ftruncateSync(fd, bytes);
    },
    getSize: () => {
      checkOpen();
      return fs.fstatSync(fd).size;
    },
    flush: checkOpen,
    close,
  };
}

function file(opfs: FakeOpfs, full: string): OpfsFile {
  return {
    kind: 'file',
    getFile: async () => new Blob([fs.readFileSync(full)]),
    createSyncAccessHandle: async ({ mode = 'readwrite' } = {}) => handleOn(opfs, full, mode),
  };
}

function directory(opfs: FakeOpfs, full: string): OpfsDirectory {
  return {
    kind: 'directory',
    getDirectoryHandle: async (name, { create = false } = {}) => {
      const child = path.join(full, name);
      if (create) {
        fs.mkdirSync(child, { recursive: true });
      } else if (!fs.existsSync(child)) {
        throw notFound(name);
      } else if (!fs.statSync(child).isDirectory()) {
        throw new DOMException(`${name} is a file`, 'TypeMismatchError');
      }
      return directory(opfs, child);
    },
    getFileHandle: async (name, { create = false } = {}) => {
      const child = path.join(full, name);
      if (!fs.existsSync(child)) {
        if (!create) {
          throw notFound(name);
        }
        fs.writeFileSync(child, '');
      }
      return file(opfs, child);
    },
    removeEntry: async (name, { recursive = false } = {}) => {
      const child = path.join(full, name);
      if (!fs.existsSync(child)) {
        throw notFound(name);
      }
      for (const [other, count] of opfs.locks) {
        if (count !== 0 && (other === child || other.startsWith(child + path.sep))) {
          throw locked(name);
        }
      }
      fs.rmSync(child, { recursive });
    },
    keys: async function* () {
      yield* fs.readdirSync(full);
    },
  };
}

// SPDX-License-Identifier: MIT
// A file on disk as the File that loadModel takes: its bytes are read when a slice is asked for them. (Node's own openAsBlob is
// thirty times slower than a positional read.)

import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** Opened for each read: nothing has to be closed when the model is done with. */
async function readAt(path: string, offset: number, bytes: number): Promise<ArrayBuffer> {
  const buffer = new ArrayBuffer(bytes);
  const handle = await open(path);
  try {
    for (let done = 0; done < bytes;) {
      const { bytesRead } = await handle.read(new Uint8Array(buffer), done, bytes - done, offset + done);
      if (bytesRead === 0) {
        return buffer.slice(0, done); // shorter than it was; the reader sees it
      }
      done += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return buffer;
}

class LocalSlice extends Blob {
  readonly #read: () => Promise<ArrayBuffer>;

  constructor(read: () => Promise<ArrayBuffer>) {
    super();
    this.#read = read;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#read();
  }
}

export class LocalFile extends File {
  readonly #path: string;
  readonly #bytes: number;

  private constructor(path: string, bytes: number) {
    super([], basename(path));
    this.#path = path;
    this.#bytes = bytes;
  }

  static async at(path: string): Promise<LocalFile> {
    return new LocalFile(path, (await stat(path)).size);
  }

  override get size(): number {
    return this.#bytes;
  }

  override slice(start = 0, end = this.#bytes): Blob {
    return new LocalSlice(() => readAt(this.#path, start, end - start));
  }
}

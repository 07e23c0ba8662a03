// SPDX-License-Identifier: MIT
// A model that arrives without announced lengths: appended part by part, and nothing of it until the end counts.

import { storageError } from './checks.js';
import type { ByteFile, ModelFolder } from './folder.js';
import { partName } from './model-files.js';
import { rangeHash } from './range-hash.js';
import type { PartInfo } from './store-types.js';

export class UnsizedFiles {
  readonly rangeBytes: number;
  readonly #url: string;
  readonly #folder: ModelFolder;
  readonly #publish: (parts: readonly PartInfo[], hashes: readonly string[]) => Promise<void>;
  readonly #hashes: string[] = [];
  #file: ByteFile | null = null;
  #part = -1;
  #written = 0;

  constructor(
    url: string,
    folder: ModelFolder,
    rangeBytes: number,
    publish: (parts: readonly PartInfo[], hashes: readonly string[]) => Promise<void>,
  ) {
    this.#url = url;
    this.#folder = folder;
    this.rangeBytes = rangeBytes;
    this.#publish = publish;
  }

  /** The next range of a part: whole ones, and a shorter one at its end. */
  async append(part: number, data: Uint8Array): Promise<void> {
    try {
      if (part !== this.#part) {
        this.#closeFile();
        this.#file = await this.#folder.open(partName(part), 'readwrite');
        [this.#part, this.#written] = [part, 0];
      }
      this.#file?.write(data, this.#written);
      this.#written += data.length;
      this.#hashes.push(rangeHash(data));
    } catch (error) {
      throw storageError(error, this.#url);
    }
  }

  async finish(parts: readonly PartInfo[]): Promise<void> {
    try {
      this.#closeFile();
      await this.#publish(parts, this.#hashes);
    } catch (error) {
      throw storageError(error, this.#url);
    }
  }

  /** What was written stays without a manifest, and is overwritten by the next attempt. */
  close(): void {
    this.#closeFile();
  }

  #closeFile(): void {
    this.#file?.flush();
    this.#file?.close();
    this.#file = null;
  }
}

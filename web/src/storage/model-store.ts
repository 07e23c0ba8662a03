// SPDX-License-Identifier: MIT
// What a store of models must do. Implementations: OPFS (opfs-store.ts) and memory (memory-store.ts); a File is
// only ever read (blob-reader.ts). tests/conformance/store-suite.ts is the contract in executable form.
//
// The one rule: existence proves nothing. A model is complete only when its manifest says so, and the manifest
// says so only after every part was flushed and its length and magic were checked (docs/formats/store.md).

/** First bytes of every part of a model. */
export const ggufMagic = 'GGUF';

/** Where the bytes are. */
export type StorageKind = 'opfs' | 'file' | 'memory';

export interface StoredModel {
  url: string;
  bytes: number;
  complete: boolean;
  /** Milliseconds since 1970; 0 if unknown. */
  lastUsed: number;
}

export interface PartInfo {
  /** Where it came from. */
  url: string;
  bytes: number;
  /** As the server stated it, with its quotes; null if it did not. */
  etag: string | null;
}

export interface ModelReader {
  /** Where the bytes are. */
  readonly kind: StorageKind;
  /** Bytes of each part. */
  readonly partBytes: readonly number[];
  /** Fills `into` exactly, or throws (io_failed for a short read). `into` may be shared memory. */
  read(part: number, offset: number, into: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Of one model that is being stored. Ends with complete() or discard(), whatever happened before. */
export interface ModelWriter {
  /** Stores the whole of `data`; storage_quota when there is no room. `data` may be reused afterwards. */
  write(part: number, offset: number, data: Uint8Array): Promise<void>;
  /** Flushes, checks length and magic of every part, then writes the manifest. If it throws, the model is not
   *  complete and discard() must follow. */
  complete(parts: readonly PartInfo[]): Promise<void>;
  /** Removes what was written. */
  discard(): Promise<void>;
}

export interface ModelStore {
  readonly kind: StorageKind;
  /** Everything there is, interrupted downloads included. */
  list(): Promise<StoredModel[]>;
  /** null: absent, or not complete. storage_busy: somebody else holds it exclusively. */
  open(url: string): Promise<ModelReader | null>;
  /** Begins to store `url`, over what may be there. storage_busy while somebody else writes or reads it. */
  create(url: string): Promise<ModelWriter>;
  /** false: there was nothing. storage_busy while it is open. */
  remove(url: string): Promise<boolean>;
}

// SPDX-License-Identifier: MIT
// The words of the store. The one rule: existence proves nothing. Bytes count when the journal says that their range
// was verified, and they still have the hash it recorded (docs/formats/store.md).

/** First bytes of every part of a model. */
export const ggufMagic = 'GGUF';

/** Where the bytes are. network: they stay on their server, and every read asks for them. */
export type StorageKind = 'opfs' | 'file' | 'memory' | 'network';

/**
 * partial: ranges are missing; damaged: ranges were found to be wrong, or the whole has another SHA-256 than was
 * stated. What is not stored at all is absent, and not listed.
 */
export type StoredState = 'partial' | 'complete' | 'damaged';

export interface StoredModel {
  url: string;
  state: StoredState;
  /** Bytes that count, and in all. */
  bytes: number;
  totalBytes: number;
  complete: boolean;
  /** Milliseconds since 1970; 0 if unknown. */
  lastUsed: number;
}

export interface PartInfo {
  /** Where it came from. */
  url: string;
  bytes: number;
  /** As the server stated them; null if it did not. */
  etag: string | null;
  lastModified: string | null;
  /** Of the whole part, in hex, if somebody stated it. */
  sha256: string | null;
}

export interface ModelReader {
  /** Where the bytes are. */
  readonly kind: StorageKind;
  /** Bytes of each part. */
  readonly partBytes: readonly number[];
  /** Fills `into` exactly, or throws (io_failed for a short read). `into` may be shared memory. */
  read(part: number, offset: number, into: Uint8Array, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

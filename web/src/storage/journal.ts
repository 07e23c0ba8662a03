// SPDX-License-Identifier: MIT
// The journal of a stored model: what is known of each range, as records of 32 bytes that are only ever appended
// (docs/formats/store.md). Parsing believes nothing: a record counts if its check fits and it belongs to this
// generation of the model, so a write that was cut, or an older download, leaves nothing wrong behind.

import { rangeHash } from './range-hash.js';

export const recordBytes = 32;

export type JournalEvent =
  | { kind: 'verified'; range: number; hash: string }
  /** The range turned out to be damaged. */
  | { kind: 'revoked'; range: number }
  /** Every range counts, their hashes are not known yet: a store of format 1. */
  | { kind: 'adopted' }
  /** The stated SHA-256 fits the whole, or does not. */
  | { kind: 'whole'; good: boolean };

const [verified, revoked, adopted, wholeGood, wholeBad] = [1, 2, 3, 4, 5];
const noHash = '0'.repeat(32);

function numbersOf(event: JournalEvent): { kind: number; range: number; hash: string } {
  switch (event.kind) {
    case 'verified':
      return { kind: verified, range: event.range, hash: event.hash };
    case 'revoked':
      return { kind: revoked, range: event.range, hash: noHash };
    case 'adopted':
      return { kind: adopted, range: 0, hash: noHash };
    case 'whole':
      return { kind: event.good ? wholeGood : wholeBad, range: 0, hash: noHash };
    default:
      return event satisfies never;
  }
}

/** Words: kind, generation, range, four of the hash, check. */
export function encodeEvent(event: JournalEvent, generation: number): Uint8Array {
  const { kind, range, hash } = numbersOf(event);
  const record = new Uint8Array(recordBytes);
  const view = new DataView(record.buffer);
  [kind, generation, range].forEach((word, index) => view.setUint32(4 * index, word, true));
  for (let word = 0; word < 4; ++word) {
    view.setUint32(12 + 4 * word, parseInt(hash.slice(8 * word, 8 * word + 8), 16), true);
  }
  view.setUint32(28, checkOf(record), true);
  return record;
}

/** null: cut, damaged, or of another generation. */
export function decodeEvent(record: Uint8Array, generation: number): JournalEvent | null {
  const view = new DataView(record.buffer, record.byteOffset, record.length);
  if (record.length !== recordBytes || view.getUint32(28, true) !== checkOf(record)) {
    return null;
  }
  if (view.getUint32(4, true) !== generation) {
    return null;
  }
  const range = view.getUint32(8, true);
  switch (view.getUint32(0, true)) {
    case verified: {
      const words = [0, 1, 2, 3].map((word) => view.getUint32(12 + 4 * word, true));
      return {
        kind: 'verified',
        range,
        hash: words.map((word) => word.toString(16).padStart(8, '0')).join(''),
      };
    }
    case revoked:
      return { kind: 'revoked', range };
    case adopted:
      return { kind: 'adopted' };
    case wholeGood:
      return { kind: 'whole', good: true };
    case wholeBad:
      return { kind: 'whole', good: false };
    default:
      return null;
  }
}

function checkOf(record: Uint8Array): number {
  return parseInt(rangeHash(record.subarray(0, 28)).slice(0, 8), 16);
}

/** What the events say together. */
export class JournalState {
  /** Of each range: its hash; '' for a range that counts without one; null for one that does not count. */
  readonly hashes: (string | null)[];
  /** Hashes of ranges that were revoked: the bytes that come in their place must have the same. */
  readonly revokedHashes = new Map<number, string>();
  /** null: nobody looked, or no SHA-256 was stated. */
  wholeIsGood: boolean | null = null;

  constructor(rangeCount: number) {
    this.hashes = new Array<string | null>(rangeCount).fill(null);
  }

  apply(event: JournalEvent): void {
    switch (event.kind) {
      case 'verified':
        if (event.range < this.hashes.length) {
          this.hashes[event.range] = event.hash;
          this.revokedHashes.delete(event.range);
        }
        return;
      case 'revoked':
        if (event.range < this.hashes.length) {
          this.revokedHashes.set(event.range, this.hashes[event.range] ?? '');
          this.hashes[event.range] = null;
        }
        return;
      case 'adopted':
        this.hashes.forEach((hash, range) => (this.hashes[range] = hash ?? ''));
        return;
      case 'whole':
        this.wholeIsGood = event.good;
        return;
      default:
        event satisfies never;
    }
  }
}

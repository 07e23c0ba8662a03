// SPDX-License-Identifier: MIT
// GGUF files written by hand.

import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A file that begins like a model and is otherwise a hole of `bytes`, for what takes a while. */
export function sparseModel(bytes: number): { file: string; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-e2e-'));
  const file = path.join(folder, 'large.gguf');
  writeFileSync(file, 'GGUF');
  truncateSync(file, bytes);
  return { file, remove: () => rmSync(folder, { recursive: true }) };
}

/** Version 3, the given text metadata, no tensors. */
export function ggufWithMetadata(metadata: Record<string, string>): Uint8Array {
  const parts: Buffer[] = [
    Buffer.from('GGUF', 'latin1'),
    uint32(3),
    uint64(0),
    uint64(Object.keys(metadata).length),
  ];
  const TYPE_STRING = 8;
  for (const [key, value] of Object.entries(metadata))
    parts.push(text(key), uint32(TYPE_STRING), text(value));
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([uint64(bytes.length), bytes]);
}

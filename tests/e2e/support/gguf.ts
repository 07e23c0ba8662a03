// SPDX-License-Identifier: MIT
// A GGUF file written by hand: version 3, the given text metadata, no tensors.

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

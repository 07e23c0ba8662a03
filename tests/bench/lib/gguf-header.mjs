// SPDX-License-Identifier: MIT
// Writes the header of a GGUF v3 file (docs/formats/gguf.md).

const ALIGNMENT = 32;
export const padding = (bytes) => (ALIGNMENT - (bytes % ALIGNMENT)) % ALIGNMENT;

const TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 };

const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const uint64 = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value) => {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([uint64(bytes.length), bytes]);
};
const array = (type, count, values) => Buffer.concat([uint32(type), uint64(count), values]);

export class GgufHeader {
  #keys = [];
  #tensors = [];
  #offset = 0; // of the next tensor in the data

  #add(key, type, value) {
    this.#keys.push(Buffer.concat([text(key), uint32(type), value]));
  }

  uint(key, value) {
    this.#add(key, TYPE.uint32, uint32(value));
  }
  float(key, value) {
    this.#add(key, TYPE.float32, Buffer.from(Float32Array.of(value).buffer));
  }
  bool(key, value) {
    this.#add(key, TYPE.bool, Buffer.of(value ? 1 : 0));
  }
  string(key, value) {
    this.#add(key, TYPE.string, text(value));
  }
  strings(key, values) {
    this.#add(key, TYPE.array, array(TYPE.string, values.length, Buffer.concat(values.map(text))));
  }
  floats(key, values) {
    this.#add(
      key,
      TYPE.array,
      array(TYPE.float32, values.length, Buffer.from(Float32Array.from(values).buffer)),
    );
  }
  ints(key, values) {
    this.#add(key, TYPE.array, array(TYPE.int32, values.length, Buffer.from(Int32Array.from(values).buffer)));
  }

  /** Tensors lie in the order in which they are added. */
  tensor(name, dims, type, bytes) {
    this.#tensors.push(
      Buffer.concat([
        text(name),
        uint32(dims.length),
        ...dims.map(uint64),
        uint32(type),
        uint64(this.#offset),
      ]),
    );
    this.#offset += bytes + padding(bytes);
  }

  /** Up to where the data begins. */
  bytes() {
    const head = Buffer.concat([
      Buffer.from('GGUF'),
      uint32(3),
      uint64(this.#tensors.length),
      uint64(this.#keys.length),
      ...this.#keys,
      ...this.#tensors,
    ]);
    return Buffer.concat([head, Buffer.alloc(padding(head.length))]);
  }
}

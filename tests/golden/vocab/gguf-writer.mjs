// SPDX-License-Identifier: MIT
// Writes GGUF files without tensors: a header of key-value pairs (docs/formats/gguf.md).

const U32 = 4;
const I32 = 5;
const F32 = 6;
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

const u32 = (value) => Buffer.from(new Uint32Array([value]).buffer);
const u64 = (value) => Buffer.from(new BigUint64Array([BigInt(value)]).buffer);
function string(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}
const array = (type, length, bytes) => [u32(ARRAY), u32(type), u64(length), bytes];

export class GgufWriter {
  #pairs = [];

  #add(key, value) {
    this.#pairs.push(Buffer.concat([string(key), ...value]));
    return this;
  }
  string(key, value) {
    return this.#add(key, [u32(STRING), string(value)]);
  }
  u32(key, value) {
    return this.#add(key, [u32(U32), u32(value)]);
  }
  bool(key, value) {
    return this.#add(key, [u32(BOOL), Buffer.from([value ? 1 : 0])]);
  }
  strings(key, values) {
    return this.#add(key, array(STRING, values.length, Buffer.concat(values.map(string))));
  }
  i32s(key, values) {
    return this.#add(key, array(I32, values.length, Buffer.from(new Int32Array(values).buffer)));
  }
  f32s(key, values) {
    return this.#add(key, array(F32, values.length, Buffer.from(new Float32Array(values).buffer)));
  }
  bytes() {
    return Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(this.#pairs.length), ...this.#pairs]);
  }
}

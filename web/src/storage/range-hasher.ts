// SPDX-License-Identifier: MIT
// rangeHash with 128-bit instructions, for bytes that are read into its buffer: several times as fast, and from the first
// range on, where TypeScript begins in an interpreter. The module is one loop, small enough to stand here.

import { createError } from '../errors.js';
import { finishHash, startLanes } from './range-hash.js';

/** (module (memory (export "memory") 1)
 *    (func (export "mix") (param $at i32) (param $end i32) (local $lanes v128) …
 *  The lanes lie at 0 before and after; [at, end) holds whole vectors, at least one. */
const moduleBytes = [
  '0061736d 01000000 01060160027f7f00 03020100 0503010001 071002 066d656d6f7279 0200 036d6978 0000 0a5a01 5801017b',
  '4100 fd000400 2102', //                     lanes = load(0)
  '0340', //                                   loop
  '2002 2000 fd000400', //                       lanes, load(at)
  '41f794afaf78 fd11 fdb501 fdae01 2102', //     lanes += load(at) * prime2
  '2002 410d fdab01', //                         lanes << 13
  '2002 4113 fdad01 fd50', //                    | lanes >>> 19
  '41b1f3ddf179 fd11 fdb501 2102', //            lanes = that * prime1
  '2000 4110 6a 2200 2001 49 0d00 0b', //        at += 16; again if at < end
  '4100 2002 fd0b0400 0b', //                   store(0, lanes)
].join(' ');
/** The bytes lie behind the lanes. */
const dataAt = 16;
const pageBytes = 65536;

export class RangeHasher {
  readonly #memory: WebAssembly.Memory;
  readonly #mix: (at: number, end: number) => void;

  constructor() {
    const pairs = moduleBytes.replaceAll(' ', '').match(/../g) ?? [];
    const code = Uint8Array.from(pairs, (pair) => parseInt(pair, 16));
    const { memory, mix } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
    if (!(memory instanceof WebAssembly.Memory) || typeof mix !== 'function') {
      throw createError('internal', 'the module of the range hash lacks an export');
    }
    this.#memory = memory;
    this.#mix = (at, end) => void mix(at, end);
  }

  /** Of so many bytes, to be filled before hash(); the same memory at every call. */
  buffer(bytes: number): Uint8Array<ArrayBuffer> {
    const missing = dataAt + bytes - this.#memory.buffer.byteLength;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / pageBytes));
    }
    return new Uint8Array(this.#memory.buffer, dataAt, bytes);
  }

  /** As rangeHash(buffer(bytes)). */
  hash(bytes: number): string {
    const lanes = new Int32Array(this.#memory.buffer, 0, startLanes.length);
    lanes.set(startLanes);
    const end = dataAt + (bytes & ~15);
    if (end > dataAt) {
      this.#mix(dataAt, end);
    }
    const [a = 0, b = 0, c = 0, d = 0] = lanes;
    return finishHash([a, b, c, d], this.buffer(bytes).subarray(end - dataAt), bytes);
  }
}

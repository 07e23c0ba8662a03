// SPDX-License-Identifier: MIT
// Pools of random blocks of one tensor type, whose weights have a standard deviation of 1 / sqrt(row length): random models
// with larger ones overflow, with smaller ones they fall silent.

/** Number in the file, weights and bytes of a block. */
export const BLOCKS = {
  F32: { id: 0, values: 1, bytes: 4 },
  F16: { id: 1, values: 1, bytes: 2 },
  Q4_0: { id: 2, values: 32, bytes: 18 },
  Q5_0: { id: 6, values: 32, bytes: 22 },
  Q8_0: { id: 8, values: 32, bytes: 34 },
  Q4_K: { id: 12, values: 256, bytes: 144 },
  Q6_K: { id: 14, values: 256, bytes: 210 },
};

/** xorshift32: seeded, so that a file is the same each time. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0 || 1;
  }
  next() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state;
  }
  below(limit) {
    return this.next() % limit;
  }
  unit() {
    return this.next() / 2 ** 32;
  }
  /** Near enough to normal: a sum of six uniforms with variance 1. */
  normal() {
    let sum = 0;
    for (let i = 0; i < 6; ++i) sum += this.unit();
    return (sum - 3) * Math.SQRT2;
  }
}

/** Bits of the nearest half; for positive normal values. */
function halfBits(value) {
  const bits = new Uint32Array(Float32Array.of(value).buffer)[0];
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent <= 0) {
    if (exponent < -10) return sign;
    const shift = 14 - exponent;
    return sign | (((mantissa | 0x800000) + (1 << (shift - 1))) >>> shift);
  }
  return sign | (((exponent << 10) | (mantissa >>> 13)) + ((mantissa >>> 12) & 1));
}

// Standard deviation of a block's codes with scale 1 (uniform codes; sub-scales of 24 … 55 about 40 in the K types).
const CODE_DEVIATION = { Q4_0: 4.61, Q5_0: 9.23, Q8_0: 73.9, Q4_K: 4.61 * 40, Q6_K: 18.5 * 40 };

/** Gives one block of random codes its scales. */
const SCALES = {
  F32: (block, deviation, random) => block.writeFloatLE(random.normal() * deviation),
  F16: (block, deviation, random) => block.writeUInt16LE(halfBits(random.normal() * deviation)),
  Q4_0: (block, scale) => block.writeUInt16LE(halfBits(scale)),
  Q5_0: (block, scale) => block.writeUInt16LE(halfBits(scale)),
  Q8_0: (block, scale) => {
    // No quantiser writes -128, and rows with it take the slow exact path.
    for (let i = 2; i < 34; ++i) if (block[i] === 0x80) block[i] = 0x81;
    block.writeUInt16LE(halfBits(scale));
  },
  Q4_K: (block, scale, random) => {
    // Sub-minimum = sub-scale and dmin = 7.5 d make the mean zero.
    const scales = Array.from({ length: 8 }, () => 24 + (random.next() & 31));
    block.writeUInt16LE(halfBits(scale));
    block.writeUInt16LE(halfBits(7.5 * scale), 2);
    for (let j = 0; j < 4; ++j) {
      const [low, high] = [scales[j], scales[4 + j]];
      block[4 + j] = low | ((high >> 4) << 6);
      block[8 + j] = low | ((high >> 4) << 6);
      block[12 + j] = (high & 15) | ((high & 15) << 4);
    }
  },
  Q6_K: (block, scale, random) => {
    for (let j = 0; j < 16; ++j) block.writeInt8(24 + (random.next() & 31), 192 + j);
    block.writeUInt16LE(halfBits(scale), 208);
  },
};

const POOL_BYTES = 2 << 20;
const pools = new Map();

/** About 2 MiB of blocks for rows of this length. */
export function randomBlocks(type, columns) {
  const key = `${type}/${columns}`;
  if (!pools.has(key)) pools.set(key, makePool(type, columns));
  return pools.get(key);
}

function makePool(type, columns) {
  const random = new Random(columns * 31 + BLOCKS[type].id);
  const { bytes } = BLOCKS[type];
  const pool = Buffer.alloc(Math.floor(POOL_BYTES / bytes) * bytes);
  for (let at = 0; at + 4 <= pool.length; at += 4) pool.writeUInt32LE(random.next(), at);
  for (let at = 0; at < pool.length; at += bytes) {
    const deviation = (0.75 + 0.5 * random.unit()) / Math.sqrt(columns);
    SCALES[type](pool.subarray(at, at + bytes), deviation / (CODE_DEVIATION[type] ?? 1), random);
  }
  return pool;
}

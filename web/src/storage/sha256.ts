// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) over bytes that come in pieces, which crypto.subtle cannot do. For whole files, in the background.

/** Fractions of the cube roots of the first 64 primes. */
const constants = Int32Array.from(firstPrimes(64), (prime) => fraction(Math.cbrt(prime)));

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; ++candidate) {
    if (primes.every((prime) => candidate % prime !== 0)) {
      primes.push(candidate);
    }
  }
  return primes;
}

function fraction(value: number): number {
  return Math.floor((value % 1) * 2 ** 32) | 0;
}

export class Sha256 {
  readonly #state = Int32Array.from(firstPrimes(8), (prime) => fraction(Math.sqrt(prime)));
  readonly #schedule = new Int32Array(64);
  readonly #rest = new Uint8Array(64);
  #restBytes = 0;
  #totalBytes = 0;

  update(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    let at = 0;
    if (this.#restBytes > 0) {
      at = Math.min(64 - this.#restBytes, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#restBytes);
      this.#restBytes += at;
      if (this.#restBytes < 64) {
        return;
      }
      this.#block(viewOf(this.#rest), 0);
    }
    const view = viewOf(bytes);
    for (; at + 64 <= bytes.length; at += 64) {
      this.#block(view, at);
    }
    this.#rest.set(bytes.subarray(at));
    this.#restBytes = bytes.length - at;
  }

  /** Hex. Nothing can be added afterwards. */
  digest(): string {
    const bits = BigInt(this.#totalBytes) * 8n;
    const padding = new Uint8Array((this.#restBytes < 56 ? 56 : 120) - this.#restBytes + 8);
    padding[0] = 0x80;
    viewOf(padding).setBigUint64(padding.length - 8, bits);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #block(view: DataView, at: number): void {
    const [w, state] = [this.#schedule, this.#state];
    for (let i = 0; i < 16; ++i) {
      w[i] = view.getInt32(at + 4 * i);
    }
    for (let i = 16; i < 64; ++i) {
      const [x, y] = [w[i - 15]!, w[i - 2]!];
      const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (small0 + w[i - 7]! + small1 + w[i - 16]!) | 0;
    }
    let [a, b, c, d] = [state[0]!, state[1]!, state[2]!, state[3]!];
    let [e, f, g, h] = [state[4]!, state[5]!, state[6]!, state[7]!];
    for (let i = 0; i < 64; ++i) {
      const big1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const big0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const first = (h + big1 + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0;
      const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] = state[i]! + value));
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

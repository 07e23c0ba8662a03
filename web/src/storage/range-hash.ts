// SPDX-License-Identifier: MIT
// The hash of a range: 128 bits that notice damage, fast and without a wait (why not SHA-256: docs/decisions/0008).
// Four lanes take every fourth little-endian 32-bit word; a step turns a lane one to one, so that a change within one
// word always shows. It is no protection against someone who wants a collision: the whole file's SHA-256 is.

const prime1 = 0x9e3779b1 | 0;
const prime2 = 0x85ebca77 | 0;

const rotateAndMix = (lane: number): number => Math.imul((lane << 13) | (lane >>> 19), prime1);

type Lanes = readonly [number, number, number, number];

export const startLanes: Lanes = [1, 2, 3, 4];

/** 32 hex digits. The bytes' length is part of it. */
export function rangeHash(bytes: Uint8Array): string {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
  let [a, b, c, d] = startLanes;
  const whole = words.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    a = rotateAndMix((a + Math.imul(words[at] ?? 0, prime2)) | 0);
    b = rotateAndMix((b + Math.imul(words[at + 1] ?? 0, prime2)) | 0);
    c = rotateAndMix((c + Math.imul(words[at + 2] ?? 0, prime2)) | 0);
    d = rotateAndMix((d + Math.imul(words[at + 3] ?? 0, prime2)) | 0);
  }
  return finishHash([a, b, c, d], aligned.subarray(whole * 4), aligned.length);
}

/** `rest`: behind the last whole vector. `length`: of all bytes. */
export function finishHash(lanes: Lanes, rest: Uint8Array, length: number): string {
  let [a, b, c, d] = lanes;
  for (const byte of rest) {
    a = rotateAndMix((a + Math.imul(byte + 1, prime2)) | 0);
  }
  b = rotateAndMix((b + length) | 0);
  // Lanes that carry into each other, so that each digit depends on everything.
  for (let round = 0; round < 4; ++round) {
    a = rotateAndMix((a + d) | 0);
    b = rotateAndMix((b ^ a) | 0);
    c = rotateAndMix((c + b) | 0);
    d = rotateAndMix((d ^ c) | 0);
  }
  return [a, b, c, d].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}

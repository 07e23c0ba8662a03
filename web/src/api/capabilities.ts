// SPDX-License-Identifier: MIT
// What this browser can do, found by trying, not by its name.

import type { Capabilities } from './types.js';

/** A module whose one function, of type () -> v128 (0x7b), has this body. */
function moduleWith(...body: readonly number[]): Uint8Array<ArrayBuffer> {
  const code = [0x00, ...body, 0x0b];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b], // type section
    ...[0x03, 0x02, 0x01, 0x00], // function section
    ...[0x0a, code.length + 2, 0x01, code.length, ...code], // code section
  ]);
}

const i32Zero = [0x41, 0x00] as const;
const i8x16Splat = [0xfd, 0x0f] as const;
const zeroVector = [...i32Zero, ...i8x16Splat] as const;
/** i32x4.relaxed_dot_i8x16_i7x16_add_s: 0xfd 0x113 (LEB128). */
const relaxedDotAdd = [0xfd, 0x93, 0x02] as const;

async function canUseOpfs(): Promise<boolean> {
  const storage: StorageManager | undefined = globalThis.navigator?.storage;
  if (typeof storage?.getDirectory !== 'function') {
    return false;
  }
  try {
    await storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}

export interface EngineFeatures {
  simd: boolean;
  relaxedSimd: boolean;
  threads: boolean;
}

export function engineFeatures({ isolated }: { isolated: boolean }): EngineFeatures {
  return {
    simd: WebAssembly.validate(moduleWith(...zeroVector)),
    relaxedSimd: WebAssembly.validate(
      moduleWith(...zeroVector, ...zeroVector, ...zeroVector, ...relaxedDotAdd),
    ),
    // WebKitGTK says it is isolated and still has no SharedArrayBuffer.
    threads: isolated && typeof SharedArrayBuffer === 'function',
  };
}

/**
 * What this browser and page allow. Works in node too.
 *
 * @example
 * if (!(await capabilities()).simd) showOldBrowserMessage();
 */
export async function capabilities(): Promise<Capabilities> {
  const isolated = globalThis.crossOriginIsolated === true;
  return {
    ...engineFeatures({ isolated }),
    opfs: await canUseOpfs(),
    crossOriginIsolated: isolated,
    slowFormats: [],
  };
}

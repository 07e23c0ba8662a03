// SPDX-License-Identifier: MIT
// The wasm module gives the same bytes as the native program: logits of every position, and the cache.
// Needs build/native-release; fails, and does not skip, without it.

import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LayerstreamModule } from '#web/engine/module-types.js';
import { never, withFolder } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { loadTestModule, openFile } from './support/engine.js';
import { nativeProgram, shared, tinychatFile } from './support/paths.js';

let module: LayerstreamModule;
beforeAll(async () => {
  module = await loadTestModule();
});

const signal = never();

async function wasmBytes(
  file: string,
  ids: readonly number[],
  kvType: 'f16' | 'f32' | 'q8',
  budgetBytes: number,
) {
  const { engine, runner, close } = await openFile(module, file, {
    kvType,
    budgetBytes,
    unitBytes: 256 << 10,
  });
  try {
    const rows: Uint8Array[] = [];
    for (let done = 0; done < ids.length;) {
      const part = ids.slice(done, done + engine.maxEntries);
      await runner.run(part, 'all', { signal });
      part.forEach((_, entry) => rows.push(new Uint8Array(engine.logits(entry).buffer)));
      done += part.length;
    }
    return { logits: Buffer.concat(rows), kv: Buffer.from(engine.dumpKv()) };
  } finally {
    await close();
  }
}

async function nativeBytes(file: string, ids: readonly number[], kvType: 'f16' | 'f32' | 'q8') {
  return withFolder(async (folder) => {
    const at = (name: string): string => path.join(folder, name);
    writeFileSync(at('ids.txt'), ids.join(' '));
    const options = [
      '--tokens',
      at('ids.txt'),
      '--out',
      at('logits'),
      '--kv-out',
      at('kv'),
      '--ctx',
      '512',
      '--kv',
      kvType,
    ];
    execFileSync(nativeProgram, ['logits', file, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
    return { logits: readFileSync(at('logits')), kv: readFileSync(at('kv')) };
  });
}

/** Which float differs first; -1 if none. */
function firstDifference(a: Buffer, b: Buffer): number {
  if (a.equals(b)) {
    return -1;
  }
  for (let index = 0; index < Math.max(a.length, b.length); ++index) {
    if (a[index] !== b[index]) {
      return Math.floor(index / 4);
    }
  }
  return -1;
}

const chat = chats[1] as KnownChat;
const prompt = [...chat.prompt_ids, ...replyOf(chat).ids];

const files: Record<string, string | null> = { 'tinychat Q8_0': tinychatFile };
for (const type of ['f32', 'f16', 'q8_0', 'q4_0']) {
  files[`stories260K ${type}`] = shared('data', 'models', `stories260K-${type}.gguf`);
}

describe('wasm equals native', () => {
  for (const [name, file] of Object.entries(files)) {
    if (file === null) {
      test.skip(`skipped: ${name} is not beside this repository`, () => undefined);
      continue;
    }
    // stories260K has 512 ids; the same prompt in a smaller vocabulary.
    const ids = name.startsWith('tinychat') ? prompt : prompt.map((id) => id % 512);
    for (const kvType of ['f32', 'f16', 'q8'] as const) {
      test(`${name}, ${kvType} cache`, async () => {
        const native = await nativeBytes(file, ids, kvType);
        expect(native.logits.length).toBeGreaterThan(0);
        for (const budgetBytes of [-1, 0]) {
          const wasm = await wasmBytes(file, ids, kvType, budgetBytes);
          expect(wasm.logits.length).toBe(native.logits.length);
          expect(firstDifference(wasm.logits, native.logits)).toBe(-1);
          expect(firstDifference(wasm.kv, native.kv)).toBe(-1);
        }
      });
    }
  }
});

// SPDX-License-Identifier: MIT
// Offsets beyond 4 GiB: a model whose blocks are a hole in the file computes what the same model with one block does, since
// such blocks add nothing; its output matrix lies behind the hole.

import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { never, withFolder } from './support/assertions.js';
import { loadTestModule, openFile } from './support/engine.js';
import { nativeProgram } from './support/paths.js';
import { writeSynthetic } from './support/synthetic.js';

const token = 300;

async function wasmLogits(file: string): Promise<Buffer> {
  const { engine, runner, close } = await openFile(await loadTestModule(), file, {
    budgetBytes: 0,
    contextLength: 16,
  });
  try {
    await runner.run([token], 'last', { signal: never() });
    return Buffer.from(engine.logits(0).buffer);
  } finally {
    await close();
  }
}

function nativeLogits(folder: string, file: string): Buffer {
  const at = (name: string): string => path.join(folder, name);
  writeFileSync(at('ids'), String(token));
  const options = ['--tokens', at('ids'), '--out', at('logits'), '--ctx', '16', '--budget', 'min'];
  execFileSync(nativeProgram, ['logits', file, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
  return readFileSync(at('logits'));
}

describe('a file above 4 GiB', () => {
  test(
    'gives the logits of its short twin, natively and as wasm',
    () =>
      withFolder(async (folder) => {
        const write = (layers: number): Promise<string> =>
          writeSynthetic(folder, 'llama8b-Q4_K', {
            layers,
            vocab: 2000,
            sparse: 'blocks',
            suffix: `-${layers}`,
          });
        const [short, long] = [await write(1), await write(36)];
        expect(statSync(long).size).toBeGreaterThan(2 ** 32 + 2 ** 28);
        const known = nativeLogits(folder, short);
        expect(new Set(new Float32Array(known.buffer, known.byteOffset, 2000)).size).toBeGreaterThan(1000);
        expect(nativeLogits(folder, long).equals(known)).toBe(true);
        expect((await wasmLogits(long)).equals(known)).toBe(true);
      }),
    240_000,
  );
});

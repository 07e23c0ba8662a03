// SPDX-License-Identifier: MIT
// The packed tarball in node, in a process of its own.

import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expectedAnswer } from '../e2e/support/chat-page.js';
import { MODEL_PATH } from '../e2e/support/repository.js';
import { APPS } from './support/app-server.js';

test('layerstream/node answers from a local file, streaming it, and the process ends by itself', async () => {
  const question = 'Who are you?';
  const script = path.join(APPS, 'node.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, MODEL_PATH, question], {
    timeout: 110_000,
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    simd: true,
    rendered: question,
    answer: expectedAnswer(question),
    streamed: true,
    refusal: { known: true, code: 'io_failed' },
    storage: 'file',
    threads: 1,
    dimensions: 256,
    promptTokens: expect.any(Number),
  });
});

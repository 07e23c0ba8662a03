// SPDX-License-Identifier: MIT
// Faults that only a browser has: a server of another origin that gives no permission, a page that is frozen while a model
// arrives and while an answer is made.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { CDPSession } from 'playwright-core';
import { RangedFile } from '../jest/support/model-server.js';
import { useFixture } from './support/fixture.js';
import { MODEL_PATH } from './support/repository.js';
import { startServer } from './support/server.js';
import type { DemoServer } from './support/server.js';

const bytes = readFileSync(MODEL_PATH);
const ROUTE = '/far/model.gguf';
const fixture = useFixture();
let far: DemoServer;

beforeEach(async () => {
  fixture.server.routes.set('/bare.html', (_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>bare</title>');
  });
  await fixture.visit.page.goto(new URL('bare.html', fixture.server.url).href);
  far = await startServer();
});
afterEach(() => far.close());

/** Loads the model from `url` and gives the ids of a short answer, or the error's code. */
function answer(url: string): Promise<number[] | string> {
  return fixture.visit.page.evaluate(
    async ([from]) => {
      const { loadModel, LayerstreamError } = (await import(
        new URL('/dist/index.js', location.href).href
      )) as typeof import('layerstream');
      try {
        const model = await loadModel(from);
        const tokens: number[] = [];
        const options = { maxTokens: 40, ignoreEos: true };
        for await (const chunk of model.complete('Who are you?', options)) {
          tokens.push(...chunk.tokens);
          document.title = `${tokens.length}`;
        }
        await model.dispose();
        return tokens;
      } catch (error) {
        return error instanceof LayerstreamError ? error.code : String(error);
      }
    },
    [url] as const,
  );
}

test('a server of another origin without permission is network_failed; with it, unexposed ranges included, all works', async () => {
  fixture.allowComplaints(/CORS|ERR_FAILED|favicon|404/);
  const file = new RangedFile(bytes);
  far.routes.set(ROUTE, file.answer);
  const url = new URL(ROUTE, far.url).href;
  expect(await answer(url)).toBe('network_failed');
  const permitted = new RangedFile(bytes, {
    headers: { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' },
  });
  far.routes.set(ROUTE, permitted.answer);
  expect(await answer(url)).toHaveLength(40);
});

test('a page that is frozen while a model arrives and while it answers goes on where it was', async () => {
  fixture.allowComplaints(/favicon|404|ERR_/);
  const file = new RangedFile(bytes, { bytesPerSecond: 2e6 });
  fixture.server.routes.set(ROUTE, file.answer);
  const { page, context } = fixture.visit;
  const devtools: CDPSession = await context.newCDPSession(page);
  const freeze = async (ms: number): Promise<void> => {
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    await new Promise((resolve) => setTimeout(resolve, ms));
    await devtools.send('Page.setWebLifecycleState', { state: 'active' });
  };
  const url = new URL(ROUTE, fixture.server.url).href;
  const frozen = answer(url);
  while (file.sentBytes < 2_000_000) await new Promise((resolve) => setTimeout(resolve, 20));
  await freeze(1_500);
  await page.waitForFunction(() => Number(document.title) > 3);
  await freeze(1_500);
  const tokens = await frozen;
  expect(tokens).toHaveLength(40);
  expect(await answer(url)).toEqual(tokens);
  expect(file.timesSent.every((times) => times >= 1)).toBe(true);
});

// SPDX-License-Identifier: MIT
// A tab that has answered leaves the processors alone: the threads of the pool sleep, and the page does not poll.

import { expect, test } from '@jest/globals';
import { pathToFileURL } from 'node:url';
import { useFixture } from './support/fixture.js';
import { inRepository, MODEL_ROUTE } from './support/repository.js';

interface ProcessesModule {
  findBrowser(profile: string): number | null;
  /** In jiffies, of which there are 100 a second: of a process and all below it. */
  processorTime(root: number | null): { own: number };
}

const { findBrowser, processorTime } = (await import(
  pathToFileURL(inRepository('tests', 'bench', 'lib', 'processes.mjs')).href
)) as ProcessesModule;

const on = useFixture();

const windowSeconds = 2;
const windows = 4;
/** Of one processor. A thread that spins takes most of one; a still page 0 to 3 %, the blinking caret included. */
const allowedShare = 0.08;

/** What the whole browser takes in the quietest of some windows: the browser has work of its own now and then. */
async function quietestShare(): Promise<number> {
  const browser = findBrowser(on.profile.folder);
  expect(browser).not.toBeNull();
  let least = Infinity;
  for (let i = 0; i < windows && least > allowedShare; i += 1) {
    const before = processorTime(browser).own;
    await new Promise((resolve) => setTimeout(resolve, windowSeconds * 1000));
    least = Math.min(least, (processorTime(browser).own - before) / 100 / windowSeconds);
  }
  return least;
}

test('four threads that have computed an answer sleep', async () => {
  on.server.routes.set('/bare.html', (_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>bare</title><link rel="icon" href="data:,">');
  });
  await on.visit.page.goto(new URL('bare.html', on.server.url).href);
  const threads = await on.visit.page.evaluate(async (url) => {
    const { loadModel } = (await import(
      new URL('/dist/index.js', location.href).href
    )) as typeof import('layerstream');
    const model = await loadModel(url, { engineBuild: 'threads-relaxed', threads: 4 });
    await model.complete('Who are you?', { maxTokens: 64, ignoreEos: true }).text();
    return model.info.threads;
  }, MODEL_ROUTE);
  expect(threads).toBe(4);
  expect(await quietestShare()).toBeLessThan(allowedShare);
});

test('the chat page, answered, is still', async () => {
  await on.openReady();
  await on.chat.ask('What is the capital of Norway?');
  expect(await quietestShare()).toBeLessThan(allowedShare);
});

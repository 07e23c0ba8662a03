// SPDX-License-Identifier: MIT
// The packed tarball in apps as users build them: each loads the toy model and answers in Chromium, with threads on an
// isolated page and without on any other, under a policy that allows no eval, no inline script and no other origin.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newProfile, startVisit } from '../e2e/support/browser.js';
import type { Profile, Visit } from '../e2e/support/browser.js';
import { expectedAnswer } from '../e2e/support/chat-page.js';
import { serveBuilt, serveByViteDev } from './support/app-server.js';
import type { AppServer } from './support/app-server.js';

const ANSWER = expectedAnswer('Who are you?');

let profile: Profile;
let visit: Visit;
let server: AppServer | null = null;

beforeAll(async () => {
  profile = newProfile();
  visit = await startVisit(profile);
});
afterAll(async () => {
  await visit.close();
  profile.remove();
});
beforeEach(() => {
  visit.complaints.length = 0;
});
afterEach(async () => {
  await visit.page.goto('about:blank'); // its workers end before their server
  await server?.close();
  server = null;
  expect(visit.complaints).toEqual([]);
});

/** What the app writes on its body. */
async function outcome(url: string): Promise<Record<string, string | undefined>> {
  const { page } = visit;
  await page.goto(url);
  await page.waitForSelector('body[data-answer], body[data-error]', { state: 'attached' });
  return page.evaluate(() => ({ ...document.body.dataset }));
}

const withThreads = {
  answer: ANSWER,
  build: expect.stringMatching(/^threads-/),
  threads: expect.stringMatching(/^([2-9]|1\d)$/),
};
const withoutThreads = { answer: ANSWER, build: expect.stringMatching(/^single-/), threads: '1' };

describe.each(['plain', 'vite', 'webpack', 'esbuild'])('built: %s', (app) => {
  test('answers with threads on an isolated page', async () => {
    server = await serveBuilt(app, true);
    expect(await outcome(server.url)).toEqual(withThreads);
  });

  test('answers without threads where the page is not isolated', async () => {
    server = await serveBuilt(app, false);
    expect(await outcome(server.url)).toEqual(withoutThreads);
  });
});

describe("Vite's dev server, without configuration", () => {
  test('answers with threads on an isolated page', async () => {
    server = await serveByViteDev(true);
    expect(await outcome(server.url)).toEqual(withThreads);
  });

  test('answers without threads where the page is not isolated', async () => {
    server = await serveByViteDev(false);
    expect(await outcome(server.url)).toEqual(withoutThreads);
  });
});

describe('on a host that sends no headers', () => {
  test('the service worker of the package isolates the page, and it answers with threads', async () => {
    server = await serveBuilt('plain', false);
    expect(await outcome(`${server.url}?isolate`)).toEqual(withThreads);
  });

  test('a page that cannot be isolated is told so instead of being reloaded for ever', async () => {
    server = await serveBuilt('plain', false);
    await visit.page.goto(server.url);
    const isolated = await visit.page.evaluate(async () => {
      sessionStorage.setItem('layerstream-isolation-tried', '1'); // as after a reload that did not help
      const url = new URL('/layerstream/index.js', location.href).href;
      const { isolatePage } = (await import(url)) as typeof import('layerstream');
      return isolatePage('./isolation-service-worker.js');
    });
    expect(isolated).toBe(false);
  });
});

test('a page downloads one engine of the four, and nothing from another origin', async () => {
  server = await serveBuilt('vite', true);
  visit.requests.length = 0;
  await outcome(server.url);
  const paths = server.paths().filter((path) => path !== '/favicon.ico');
  expect(paths.filter((path) => path.endsWith('.wasm'))).toHaveLength(1);
  const origins = new Set(visit.requests.map((url) => new URL(url).origin));
  expect([...origins].filter((origin) => origin !== 'null')).toEqual([new URL(server.url).origin]);
});

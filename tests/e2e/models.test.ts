// SPDX-License-Identifier: MIT
// Other models: a local file, an address, and everything that is not a model. After each failure the page goes on.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { expectedAnswer } from './support/chat-page.js';
import { useFixture } from './support/fixture.js';
import { ggufWithMetadata } from './support/gguf.js';
import { MODEL_FILE, MODEL_PATH, MODEL_ROUTE } from './support/repository.js';

const on = useFixture();

const PROMPT = 'What is 7 plus 8?';
const HTML = '<!doctype html><title>Sign in</title><p>Please sign in to download this file.</p>'.repeat(100);

async function goesOn(): Promise<void> {
  await on.chat.ready({ despiteBanner: true });
  await on.chat.newChat();
  expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
}

test('a local file is used in place: same answer, nothing stored, nothing requested', async () => {
  await on.openReady();
  const stored = await on.chat.storedFiles();
  const modelHits = on.server.hits(MODEL_ROUTE).length;
  await on.chat.chooseFile('my model.gguf', readFileSync(MODEL_PATH));
  await on.chat.opened('read from your file');
  await on.chat.ready();
  expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  expect(await on.chat.storedFiles()).toEqual(stored);
  expect(on.server.hits(MODEL_ROUTE)).toHaveLength(modelHits);
});

test('a local file streams within the smallest budget too', async () => {
  await on.openReady();
  await on.chat.chooseFile(MODEL_FILE, readFileSync(MODEL_PATH));
  await on.chat.opened('read from your file');
  await on.chat.setBudget('min');
  await on.chat.ready();
  expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  await on.chat.memoryAbove('memory-peak', 0);
  expect(await on.chat.bytes('memory-peak')).toBeLessThanOrEqual(await on.chat.bytes('memory-allowed'));
});

test('an address other than the default is downloaded, kept, listed and deleted', async () => {
  const address = '/elsewhere/copy.gguf';
  const bytes = readFileSync(MODEL_PATH);
  on.server.routes.set(address, (request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  });
  await on.openReady();
  await on.chat.chooseUrl(address);
  await on.chat.opened('copy');
  await on.chat.ready();
  expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));

  await on.chat.chooseDefault();
  await on.chat.opened('Tiny Chat');
  await on.chat.ready();
  await on.chat.openModels();
  await on.chat.modelOption('copy', 'Delete');
  await on.visit.page.waitForSelector('.model-row:has-text("copy")', { state: 'detached' });
  const left = Object.values(await on.chat.storedFiles()).filter((size) => size >= bytes.length);
  expect(left).toHaveLength(1);
});

describe('a file that is not a usable model gives a sentence, and the page goes on', () => {
  const model = readFileSync(MODEL_PATH);
  const cases: [name: string, file: string, bytes: Uint8Array, code: string, sentence: string][] = [
    [
      'a text file',
      'notes.txt',
      Buffer.from('Dear diary, '.repeat(2000)),
      'bad_magic',
      'This is not a GGUF model.',
    ],
    [
      'a web page named like a model',
      'model.gguf',
      Buffer.from(HTML),
      'bad_magic',
      'This is not a GGUF model.',
    ],
    ['an empty file', 'empty.gguf', Buffer.alloc(0), 'bad_magic', 'This is not a GGUF model.'],
    ['half a header', 'cut.gguf', model.subarray(0, 1000), 'truncated', 'This model file ends too early.'],
    [
      'half a model',
      'half.gguf',
      model.subarray(0, 2_000_000),
      'truncated',
      'This model file ends too early.',
    ],
    [
      'another architecture',
      'other.gguf',
      ggufWithMetadata({ 'general.architecture': 'perceptron', 'general.name': 'Mark I' }),
      'unsupported_arch',
      'Models of this kind do not run here yet.',
    ],
  ];
  test.each(cases)('%s', async (_name, file, bytes, code, sentence) => {
    await on.openReady();
    const stored = await on.chat.storedFiles();
    await on.chat.chooseFile(file, bytes);
    const problem = await on.chat.problem();
    expect(problem.code).toBe(code);
    expect(problem.words).toContain(sentence);
    expect(await on.chat.storedFiles()).toEqual(stored);
    await goesOn();
  });
});

test('a web page sent instead of a model, with status 200, is never stored', async () => {
  const address = '/fake/model.gguf';
  on.server.routes.set(address, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(HTML);
  });
  await on.openReady();
  const stored = await on.chat.storedFiles();
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const hits = on.server.hits(address).length;
    await on.chat.chooseUrl(address);
    await on.visit.page.waitForSelector('#banner .problem');
    expect((await on.chat.problem()).words).toMatch(/not a model|not a GGUF model/);
    expect(on.server.hits(address).length).toBeGreaterThan(hits); // nothing is believed to be here already
    await on.chat.ready({ despiteBanner: true });
    await on.visit.page.click('#banner button:has-text("Dismiss")');
  }
  const sizes = await on.chat.storedFiles();
  expect(Object.keys(sizes).filter((name) => !(name in stored) && (sizes[name] ?? 0) > 0)).toEqual([]);
  expect(await on.visit.page.locator('.model-row').count()).toBe(1);
  await goesOn();
});

test('the same page sent as plain bytes is refused by its content, and not stored', async () => {
  const address = '/fake/bytes.gguf';
  on.server.routes.set(address, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
    response.end(HTML);
  });
  await on.openReady();
  await on.chat.chooseUrl(address);
  expect((await on.chat.problem()).words).toMatch(/not a model|not a GGUF model/);
  await on.chat.ready({ despiteBanner: true });
  const sizes = Object.values(await on.chat.storedFiles());
  expect(sizes.filter((size) => size === HTML.length)).toEqual([]);
  await goesOn();
});

test('a missing file and a missing server are told apart', async () => {
  on.allowComplaints(/Failed to load resource|ERR_|CORS/);
  await on.openReady();
  await on.chat.chooseUrl('/nowhere/model.gguf');
  expect((await on.chat.problem()).code).toBe('http_status');
  await on.chat.ready({ despiteBanner: true });
  await on.visit.page.click('#banner button:has-text("Dismiss")');
  await on.chat.chooseUrl('http://localhost:9/model.gguf');
  expect((await on.chat.problem()).code).toBe('network_failed');
  await goesOn();
});

test('a first visit without a server for models says so, and trying again works', async () => {
  on.allowComplaints(/Failed to load resource|ERR_/);
  on.server.modelsClosed = true;
  await on.chat.open(on.server.url);
  expect((await on.chat.problem()).code).toBe('network_failed');
  on.server.modelsClosed = false;
  await on.visit.page.click('#banner button:has-text("Try again")');
  await on.chat.nextFrame();
  await on.chat.ready();
  expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
});

test('a download can be cancelled and started again', async () => {
  const bytes = readFileSync(MODEL_PATH);
  on.server.routes.set(MODEL_ROUTE, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': bytes.length });
    response.write(bytes.subarray(0, 3_000_000)); // and then nothing more
  });
  await on.chat.open(on.server.url);
  await on.visit.page.waitForFunction(() =>
    /^[1-9].* %$/.test(document.getElementById('pass-figure')?.textContent ?? ''),
  );
  await on.visit.page.click('#cancel-load');
  expect((await on.chat.problem()).code).toBe('load_cancelled');
  on.server.routes.delete(MODEL_ROUTE);
  await on.visit.page.click('#banner button:has-text("Go on")');
  await on.chat.nextFrame();
  await on.chat.ready();
  expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
});

test('a Hugging Face repository lists its model files; one that does not exist is a sentence', async () => {
  on.allowComplaints(/Failed to load resource/);
  await on.openReady();
  await on.chat.offlineReady();
  const asked: string[] = [];
  await on.visit.context.route('https://huggingface.co/**', async (route) => {
    const url = route.request().url();
    asked.push(url);
    const isThere = url.includes('/api/models/someone/small-GGUF/');
    const files = [
      { type: 'file', path: 'README.md', size: 10 },
      { type: 'file', path: 'small-Q8_0.gguf', size: 145_000_000 },
      { type: 'file', path: 'big-00001-of-00002.gguf', size: 4_000_000_000 },
      { type: 'file', path: 'big-00002-of-00002.gguf', size: 4_000_000_000 },
    ];
    await route.fulfill({
      status: isThere ? 200 : 404,
      headers: { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json' },
      body: JSON.stringify(isThere ? files : { error: 'not found' }),
    });
  });
  await on.chat.chooseUrl('someone/small-GGUF');
  await on.visit.page.waitForSelector('.found .model-row');
  expect(await on.visit.page.locator('.found .model-row-name').allInnerTexts()).toEqual([
    'small-Q8_0.gguf',
    'big-00001-of-00002.gguf',
  ]);
  await on.chat.chooseUrl('https://huggingface.co/someone/none');
  await on.visit.page.waitForSelector('.found .problem[data-code="no_repository"]');
  await on.chat.chooseUrl('someone/other-GGUF/sub/x y.gguf');
  await on.visit.page.waitForSelector('.found .problem[data-code="bad_url"]');
  expect(asked).toHaveLength(2);

  await on.chat.chooseUrl('someone/other-GGUF/sub/x.gguf');
  expect((await on.chat.problem()).code).toBe('http_status');
  expect(asked.at(-1)).toBe('https://huggingface.co/someone/other-GGUF/resolve/main/sub/x.gguf');
});

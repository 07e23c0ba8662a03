// SPDX-License-Identifier: MIT
// What can be done with models that are kept on the device: check and repair, copy in, save, and ask the browser to keep them.

import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expectedAnswer } from './support/chat-page.js';
import { useFixture } from './support/fixture.js';
import { sparseModel } from './support/gguf.js';
import { MODEL_FILE, MODEL_PATH, MODEL_ROUTE } from './support/repository.js';
import { slowRoute } from './support/slow-route.js';

const PROMPT = 'What is 7 plus 8?';
const OTHER = '/elsewhere/other.gguf';
const model = readFileSync(MODEL_PATH);

const large = sparseModel(400e6);
afterAll(() => large.remove());

const on = useFixture();

beforeEach(() => {
  const { route, hurry } = slowRoute(MODEL_PATH, 0);
  hurry();
  on.server.routes.set(OTHER, route);
});

/** Stores the model of OTHER beside the default one, which is left open. */
async function storeOther(): Promise<void> {
  await on.openReady();
  await on.chat.chooseUrl(OTHER);
  await on.chat.opened('other');
  await on.chat.ready();
  await on.chat.chooseDefault();
  await on.chat.opened('Tiny Chat');
  await on.chat.ready();
}

describe('check', () => {
  test('a sound model, while it is open: a sentence says so, and it still answers', async () => {
    await on.openReady();
    await on.chat.modelOption('Tiny Chat', 'Check');
    expect(await on.chat.jobWords()).toBe('Checked. Every byte is as it was stored.');
    await on.visit.page.click('.job button:has-text("Dismiss")');
    await on.visit.page.waitForSelector('.job button', { state: 'detached' });
    await on.visit.page.click('#models-open');
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  });

  test('damage is found, and repaired by fetching that stretch alone', async () => {
    await storeOther();
    await on.chat.damageStored(OTHER, 3_000_000);
    await on.chat.modelOption('other', 'Check');
    expect(await on.chat.jobWords()).toMatch(/^1\.0 MB are damaged\. Repairing/);
    await on.visit.page.waitForSelector('.model-row-facts:has-text("Damaged: 4.6 of 5.6 MB are sound")');

    const before = on.server.hits(OTHER).length;
    await on.visit.page.click('.job button:has-text("Repair")');
    await on.chat.opened('other');
    await on.chat.ready();
    const fetched = on.server.hits(OTHER).slice(before);
    expect(fetched.map(({ range }) => range)).toEqual(['bytes=2097152-3145727']);
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
    await on.chat.modelOption('other', 'Check');
    expect(await on.chat.jobWords()).toBe('Checked. Every byte is as it was stored.');
  });

  test('a damaged copy of a file asks for the file', async () => {
    await on.openReady();
    await on.chat.copyIn('mine.gguf', model);
    await on.chat.opened('mine');
    await on.chat.ready();
    await on.chat.chooseDefault();
    await on.chat.opened('Tiny Chat');
    await on.chat.ready();
    await on.chat.damageStored('import:mine.gguf', 3_000_000);
    await on.chat.modelOption('mine', 'Check');
    expect(await on.chat.jobWords()).toBe('1.0 MB are damaged. Copy the file in again to replace them.');
    await on.visit.page.waitForSelector('.model-row:disabled:has-text("Copy the file in again to go on")');
    await on.chat.copyIn('mine.gguf', model);
    await on.chat.opened('mine');
    await on.chat.ready();
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  });
});

describe('copy in', () => {
  test('a file is copied, opened, and there at the next visit without the file', async () => {
    await on.openReady();
    await on.chat.copyIn('my model.gguf', model);
    await on.chat.opened('my model');
    await on.chat.ready();
    await on.chat.offlineReady();
    await on.visitAgain();
    await on.openReady();
    const hits = on.server.hits(MODEL_ROUTE).length;
    await on.chat.openModels();
    await on.visit.page.click('.model-row:has-text("my model")');
    await on.chat.opened('my model');
    await on.chat.ready();
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
    expect(on.server.hits(MODEL_ROUTE)).toHaveLength(hits);
  });

  test('a file that was dropped to run in place can be kept afterwards', async () => {
    await on.openReady();
    await on.chat.dropFile('dropped.gguf', model, '#drop-open');
    await on.chat.opened('read from your file');
    await on.chat.ready();
    await on.chat.openModels();
    await on.visit.page.click('button[aria-label="Keep a copy of dropped on this device"]');
    await on.chat.opened('kept on this device');
    await on.chat.ready();
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  });

  test('a file dropped on the other field is copied at once', async () => {
    await on.openReady();
    await on.chat.dropFile('dropped.gguf', model, '#drop-copy');
    await on.chat.opened('kept on this device');
  });

  test('what is not a model is refused before a byte is copied', async () => {
    await on.openReady();
    const stored = await on.chat.storedFiles();
    await on.chat.copyIn('holiday.gguf', Buffer.from('Sun, sand and sea. '.repeat(1000)));
    const card = await on.visit.page.waitForSelector('.job .problem');
    expect(await card.textContent()).toContain('This is not a GGUF model.');
    expect(await on.chat.storedFiles()).toEqual(stored);
    await on.visit.page.click('#models-open');
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  });

  test('tells how far it is, and can be cancelled', async () => {
    const { page } = on.visit;
    await on.openReady();
    await on.chat.openModels();
    await page.setInputFiles('#copy-file', large.file);
    await page.waitForFunction(() =>
      /^Copying, \d+ of 400 MB$/.test(document.querySelector('.job-words')?.textContent ?? ''),
    );
    await page.click('.job button:has-text("Cancel")');
    await page.waitForSelector('.job progress', { state: 'detached' });
    await page.waitForSelector('.model-row:disabled:has-text("Not whole")');
    await on.chat.modelOption('large', 'Delete');
    await page.waitForSelector('.model-row:has-text("large")', { state: 'detached' });
  });
});

describe('save', () => {
  test('as a download, where the browser cannot ask for a place', async () => {
    await on.visit.page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await on.openReady();
    const [download] = await Promise.all([
      on.visit.page.waitForEvent('download'),
      on.chat.modelOption('Tiny Chat', 'Save as a file'),
    ]);
    expect(download.suggestedFilename()).toBe(MODEL_FILE);
    expect(readFileSync(await download.path()).equals(model)).toBe(true);
    expect(await on.chat.jobWords()).toBe('Saved: 5.6 MB.');
  });

  test('to the place that was chosen, where it can', async () => {
    const { page } = on.visit;
    await page.addInitScript(() => {
      const pick = async ({ suggestedName }: { suggestedName: string }): Promise<FileSystemFileHandle> =>
        (await navigator.storage.getDirectory()).getFileHandle(`saved-${suggestedName}`, { create: true });
      Reflect.set(window, 'showSaveFilePicker', pick);
    });
    await on.openReady();
    await on.chat.modelOption('Tiny Chat', 'Save as a file');
    expect(await on.chat.jobWords()).toBe('Saved: 5.6 MB.');
    expect((await on.chat.storedFiles())[`saved-${MODEL_FILE}`]).toBe(model.length);
  });

  test('of damaged bytes ends with a sentence', async () => {
    await storeOther();
    await on.chat.damageStored(OTHER, 3_000_000);
    await on.visit.page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await on.chat.modelOption('other', 'Save as a file');
    const card = await on.visit.page.waitForSelector('.job .problem[data-code="range_damaged"]');
    expect(await card.textContent()).toContain('A part of the stored model is damaged');
  });
});

test.each([
  [true, 'The browser keeps the models until you delete them.'],
  [false, 'The browser did not agree.'],
])('the browser is asked to keep models; it answers %s', async (agrees, words) => {
  const { page } = on.visit;
  await page.addInitScript((answer) => {
    StorageManager.prototype.persisted = () => Promise.resolve(false);
    StorageManager.prototype.persist = () => Promise.resolve(answer);
  }, agrees);
  await on.openReady();
  await on.chat.openModels();
  await page.waitForSelector('#disk:has-text("used by this page")');
  expect(await page.textContent('#disk')).toContain('The browser may remove models');
  await page.click('#disk button');
  await page.waitForSelector(`#disk:has-text("${words}")`);
  expect(await page.isHidden('#disk button')).toBe(true);
});

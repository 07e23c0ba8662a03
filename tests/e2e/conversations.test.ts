// SPDX-License-Identifier: MIT
// Conversations: kept on this device, named, deleted, carried out and in; turns edited and answered again.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { expectedAnswer } from './support/chat-page.js';
import { useFixture } from './support/fixture.js';

const on = useFixture();

const CAPITAL = 'What is the capital of Norway?';
const SUM = 'What is 7 plus 8?';
const STORY = 'Tell me a story about a brave fox.';

const titles = (): Promise<string[]> => on.visit.page.locator('.conversation').allInnerTexts();

/** Waits until the list shows these titles, newest first. */
async function listed(expected: readonly string[]): Promise<void> {
  await on.visit.page.waitForFunction((wanted) => {
    const shown = [...document.querySelectorAll('.conversation')].map((each) => each.textContent);
    return JSON.stringify(shown) === wanted;
  }, JSON.stringify(expected));
}

async function choose(title: string, item: string): Promise<void> {
  await on.visit.page.hover(`.conversation:has-text("${title}")`);
  await on.visit.page.click(`button[aria-label="Options for ${title}"]`);
  await on.visit.page.click(`[role="menuitem"]:has-text("${item}")`);
}

async function exportAll(): Promise<{ conversations: { turns: { role: string; text: string }[] }[] }> {
  const [download] = await Promise.all([
    on.visit.page.waitForEvent('download'),
    on.visit.page.click('#export'),
  ]);
  return JSON.parse(readFileSync(await download.path(), 'utf8')) as Awaited<ReturnType<typeof exportAll>>;
}

const importText = (text: string): Promise<void> =>
  on.visit.page.setInputFiles('#import-file', {
    name: 'chats.json',
    mimeType: 'application/json',
    buffer: Buffer.from(text),
  });

/** Turns of the conversation that was changed last, as they are kept: writing takes a moment. */
const keptTurns = (): Promise<number> =>
  on.visit.page.evaluate(async () => {
    const result = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('no reason'));
      });
    const database = await result(indexedDB.open('layerstream-chat'));
    const all = database.transaction('conversations').objectStore('conversations').getAll();
    const kept = (await result(all)) as { updatedAt: number; turns: unknown[] }[];
    database.close();
    return kept.sort((a, b) => b.updatedAt - a.updatedAt)[0]?.turns.length ?? 0;
  });

const toast = async (words: string): Promise<void> => {
  await on.visit.page.waitForSelector(`#toast:has-text("${words}")`);
};

test('conversations are kept, listed newest first, and opened again by a returning visitor', async () => {
  await on.openReady();
  await on.chat.ask(CAPITAL);
  await on.chat.newChat();
  await on.chat.ask(SUM);
  await listed([SUM, CAPITAL]);

  await on.visitAgain();
  await on.openReady();
  expect(await on.visit.page.locator('#log > li').count()).toBe(0); // a visit begins with a new chat
  await listed([SUM, CAPITAL]);
  await on.visit.page.click(`.conversation:has-text("${CAPITAL}")`);
  await on.visit.page.waitForSelector('#log > li.assistant');
  expect(await on.chat.answer()).toBe(expectedAnswer(CAPITAL));
  await listed([SUM, CAPITAL]); // looking is no change

  // What was said before is part of the prompt.
  await on.chat.ask('My name is Mia.');
  while ((await keptTurns()) < 4) await on.visit.page.waitForTimeout(20); // the test's own limit ends this
  await on.visit.page.reload();
  await on.chat.ready();
  expect(await on.visit.page.locator('#log > li').count()).toBe(4);
  expect(await on.chat.ask('What is my name?')).toContain('Mia');
});

test('an answer that is cut off by closing the tab keeps what was there', async () => {
  // A fast machine is done within a third of a second, now and then before the tab is closed: then once more.
  let facts: string | null = null;
  for (let attempt = 0; attempt < 12 && !facts?.includes('stopped'); attempt += 1) {
    await on.openReady();
    await on.chat.newChat();
    await on.chat.setBudget('min');
    await on.chat.ready();
    await on.chat.send(STORY);
    await on.visit.page.waitForFunction(
      () =>
        (document.querySelector('#log > li:last-child .body')?.textContent ?? '').length > 10 &&
        document.querySelector('.conversation') !== null,
      null,
      { polling: 1 },
    );
    await on.visit.page.close();
    await on.visitAgain();
    await on.openReady();
    await on.visit.page.click('.conversation');
    await on.visit.page.waitForSelector('#log > li.assistant');
    const kept = await on.chat.answer();
    expect(kept.length).toBeGreaterThan(0);
    expect(expectedAnswer(STORY).startsWith(kept)).toBe(true);
    facts = await on.visit.page.textContent('#log > li:last-child .facts');
  }
  expect(facts).toContain('stopped');
});

test('a conversation is renamed, deleted, and brought back', async () => {
  await on.openReady();
  await on.chat.ask(CAPITAL);
  await on.chat.newChat();
  await on.chat.ask(SUM);
  await listed([SUM, CAPITAL]);

  await choose(CAPITAL, 'Rename');
  await on.visit.page.keyboard.type('Capitals');
  await on.visit.page.keyboard.press('Enter');
  await on.visit.page.waitForSelector('.conversation:has-text("Capitals")');

  await choose(SUM, 'Delete');
  await listed(['Capitals']);
  expect(await on.visit.page.locator('#log > li').count()).toBe(0); // the open one went
  await on.visit.page.click('#toast button:has-text("Undo")');
  await on.visit.page.waitForSelector(`.conversation:has-text("${SUM}")`);
  await choose(SUM, 'Delete');
  await listed(['Capitals']);

  await on.visitAgain();
  await on.openReady();
  await listed(['Capitals']);
});

test('an export holds every conversation and can be imported elsewhere', async () => {
  await on.openReady();
  await on.chat.ask(CAPITAL);
  await listed([CAPITAL]);
  const file = await exportAll();
  expect(file.conversations.map(({ turns }) => turns.map(({ role, text }) => [role, text]))).toEqual([
    [
      ['user', CAPITAL],
      ['assistant', expectedAnswer(CAPITAL)],
    ],
  ]);

  await importText(JSON.stringify(file));
  await toast('Nothing new');
  await choose(CAPITAL, 'Delete');
  await listed([]);
  await importText(JSON.stringify(file));
  await toast('1 chat imported');
  await listed([CAPITAL]);
  expect(await exportAll()).toEqual(file);
});

test('a file that is no export is refused with a sentence, and a hostile one brings in nothing that is not a chat', async () => {
  await on.openReady();
  for (const text of ['', 'not JSON', '[]', 'null', '{"conversations":[]}']) {
    await importText(text);
    await toast('not an export');
    await on.visit.page.evaluate(() => document.getElementById('toast')?.replaceChildren());
  }
  const turns = [
    { role: 'user', text: 'Hi' },
    {
      role: 'assistant',
      text: '<script>document.title = 1</script><img src=x onerror="document.title = 2">',
    },
  ];
  const bad = [
    null,
    7,
    { id: '../x', turns },
    { id: 'a1', turns: 'none' },
    { id: 'a2', turns: [{ role: 'system', text: 'x' }] },
    { id: 'a3', turns: [turns[0]] },
    { id: 'a4', turns: [turns[1], turns[0]] },
    { id: 'a5', turns: [{ role: 'user', text: { toString: 1 } }, turns[1]] },
  ];
  const good = { id: 'b1', title: '<b>bold</b>', named: true, updatedAt: 'soon', __proto__: { x: 1 }, turns };
  await importText(
    JSON.stringify({ format: 'layerstream-conversations', version: 1, conversations: [...bad, good] }),
  );
  await toast('1 chat imported');
  await listed(['<b>bold</b>']);
  await on.visit.page.click('.conversation');
  await on.visit.page.waitForSelector('#log > li.assistant');
  expect(await on.chat.answer()).toContain('<script>');
  expect(await on.visit.page.locator('#log :is(script, img)').count()).toBe(0);
  expect(await on.visit.page.title()).toContain('Layerstream');
});

test('an edited message is asked anew, and what came after it is gone', async () => {
  await on.openReady();
  await on.chat.ask('My name is Mia.');
  await on.chat.ask('What is my name?');
  const { page } = on.visit;
  await page.hover('#log > li.user >> nth=0');
  await page.click('#log > li.user >> nth=0 >> button[aria-label="Edit message"]');
  await page.keyboard.press('Escape');
  expect(await page.locator('#log > li').count()).toBe(4); // Esc leaves all as it was

  await page.click('#log > li.user >> nth=0 >> button[aria-label="Edit message"]');
  await page.fill('.editor textarea', CAPITAL);
  await page.keyboard.press('Control+Enter');
  await on.chat.nextFrame();
  expect(await on.chat.answer()).toBe(expectedAnswer(CAPITAL)); // as from a cold start
  expect(await page.locator('#log > li').count()).toBe(2);
});

test('answering again keeps what came before and gives the same answer when nothing is random', async () => {
  await on.openReady();
  await on.chat.ask(CAPITAL);
  const second = await on.chat.ask(SUM);
  await on.visit.page.click('#log > li:last-child button[aria-label="Answer again"]');
  await on.chat.nextFrame();
  expect(await on.chat.answer()).toBe(second);
  expect(await on.visit.page.locator('#log > li').count()).toBe(4);
  await on.visit.page.click('#log > li >> nth=1 >> button[aria-label="Answer again"]');
  await on.chat.nextFrame();
  expect(await on.chat.answer()).toBe(expectedAnswer(CAPITAL));
  expect(await on.visit.page.locator('#log > li').count()).toBe(2);
});

test('two tabs show the same list', async () => {
  await on.openReady();
  const other = await on.visit.context.newPage();
  await other.goto(on.server.url);
  await on.visit.page.bringToFront();
  await on.chat.ask(SUM);
  await listed([SUM]);
  await other.bringToFront();
  await other.waitForSelector(`.conversation:has-text("${SUM}")`);
  expect(await titles()).toEqual([SUM]);
});

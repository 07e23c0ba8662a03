// SPDX-License-Identifier: MIT
// The page itself: without isolation, by keyboard, with names for everything, hostile text, phone width.

import { describe, expect, test } from '@jest/globals';
import { expectedAnswer } from './support/chat-page.js';
import { useFixture } from './support/fixture.js';

const PROMPT = 'What is the capital of Norway?';

describe('without the isolation headers', () => {
  const on = useFixture({ isolated: false });

  test('the page works, with the whole model and with the smallest budget', async () => {
    await on.openReady();
    expect(await on.visit.page.evaluate(() => crossOriginIsolated)).toBe(false);
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
    await on.chat.setBudget('min');
    await on.chat.ready();
    await on.chat.newChat();
    expect(await on.chat.ask(PROMPT)).toBe(expectedAnswer(PROMPT));
  });
});

describe('on a desktop', () => {
  const on = useFixture();

  test('Enter sends, Shift+Enter breaks the line, Esc stops', async () => {
    await on.openReady();
    const { page } = on.visit;
    await page.focus('#message');
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    expect(await page.inputValue('#message')).toBe('one\ntwo');
    expect(await page.locator('#log > li').count()).toBe(0);

    await on.chat.setBudget('min');
    await on.chat.ready();
    await on.chat.send('Tell me a story about a brave fox.');
    await page.waitForSelector('#stop', { state: 'visible' });
    await page.keyboard.press('Escape');
    await on.chat.answer();
    expect(await page.textContent('#log > li:last-child .facts')).toContain('stopped');
    await page.waitForSelector('#send', { state: 'visible' });
  });

  test('text is shown as text, white space kept, whatever it contains', async () => {
    await on.openReady();
    const hostile = '<img src=x onerror="document.title=1">\n  **two**';
    await on.chat.ask(hostile);
    const { page } = on.visit;
    expect(await page.textContent('#log > li.user .body')).toBe(hostile);
    expect(await page.locator('#log img, #log b, #log strong').count()).toBe(0);
    expect(await page.title()).toContain('Layerstream');
    expect(
      await page.locator('#log > li.user .body').evaluate((body) => getComputedStyle(body).whiteSpace),
    ).toBe('pre-wrap');
  });

  test('an answer is announced once, whole, and not while it grows', async () => {
    await on.openReady();
    await on.chat.ask(PROMPT);
    await on.visit.page.waitForFunction(
      (text) => document.getElementById('announcer')?.textContent === text,
      expectedAnswer(PROMPT),
    );
    expect(await on.visit.page.locator('#log[aria-live], #log [aria-live]').count()).toBe(0);
  });

  test('copy puts the answer on the clipboard', async () => {
    await on.visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await on.openReady();
    await on.chat.ask(PROMPT);
    await on.visit.page.click('#log .assistant .copy');
    await on.visit.page.waitForSelector('#log .assistant .copy:has-text("Copied")');
    expect(await on.visit.page.evaluate(() => navigator.clipboard.readText())).toBe(expectedAnswer(PROMPT));
  });

  test('speed, context and memory are shown after an answer', async () => {
    await on.openReady();
    await on.chat.ask(PROMPT);
    const { page } = on.visit;
    await page.waitForFunction(() =>
      /^\d.* tok\/s$/.test(document.getElementById('rate-decode')?.textContent ?? ''),
    );
    expect(await page.textContent('#rate-prefill')).toMatch(/^\d.* tok\/s$/);
    expect(await page.textContent('#context-used')).toMatch(/^[1-9]\d* of 512 tokens of context$/);
    await on.chat.memoryAbove('memory-peak', 0);
    expect(await page.textContent('#memory-peak')).toMatch(/^At most 5\.\d of 5\.\d MB in memory at once$/);
    expect(await page.locator('#cells > i').count()).toBe(6);
  });

  test('a seed makes sampled answers repeatable', async () => {
    await on.openReady();
    const { page } = on.visit;
    await on.chat.openSettings();
    await page.locator('#setting-temperature').fill('1.2');
    await page.fill('#setting-seed', '7');
    await page.press('#setting-seed', 'Tab');
    const first = await on.chat.ask('Tell me a story about a brave fox.');
    await on.chat.newChat();
    expect(await on.chat.ask('Tell me a story about a brave fox.')).toBe(first);
  });

  test('the theme button overrides the system and is remembered', async () => {
    await on.openReady();
    const { page } = on.visit;
    const ground = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await ground();
    await page.click('#theme');
    expect(await ground()).not.toBe(dark);
    await page.reload();
    expect(await ground()).not.toBe(dark);
    await page.click('#theme');
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await ground()).toBe(dark);
    await on.chat.ready();
  });

  test('a script that the content security policy refuses would be noticed', async () => {
    await on.openReady();
    on.allowComplaints(/content security policy/i);
    await on.visit.page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "inline"';
      document.body.append(script);
    });
    expect(await on.visit.page.title()).toContain('Layerstream');
    expect(on.visit.complaints.join()).toMatch(/content security policy/i);
  });

  test('every control has a name', async () => {
    await on.openReady();
    await on.chat.openSettings();
    await on.visit.page
      .locator('.group > summary')
      .evaluateAll((all) => all.forEach((each) => (each as HTMLElement).click()));
    const nameless = await on.visit.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, input, textarea, summary, progress, meter')]
        .filter((element) => {
          const labels =
            element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
              ? element.labels
              : null;
          const label = labels?.[0]?.textContent ?? element.textContent ?? '';
          return (element.getAttribute('aria-label') ?? label).trim() === '';
        })
        .map((element) => element.outerHTML),
    );
    expect(nameless).toEqual([]);
  });
});

describe('on a phone', () => {
  const on = useFixture({ visit: { viewport: { width: 360, height: 640 } } });

  async function overflow(): Promise<number> {
    return on.visit.page.evaluate(() => {
      const column = document.getElementById('scroller');
      return Math.max(
        document.documentElement.scrollHeight - window.innerHeight,
        document.documentElement.scrollWidth - window.innerWidth,
        (column?.scrollWidth ?? 0) - (column?.clientWidth ?? 0),
      );
    });
  }

  test('nothing scrolls sideways and the page itself not at all: empty, answered, long words, an error', async () => {
    await on.openReady();
    expect(await overflow()).toBe(0);
    await on.chat.ask(PROMPT);
    expect(await overflow()).toBe(0);
    await on.chat.ask('m'.repeat(200));
    expect(await overflow()).toBe(0);
    await on.chat.chooseFile('notes.txt', Buffer.from('x'.repeat(4000)));
    await on.chat.problem();
    expect(await overflow()).toBe(0);
    await on.chat.ready({ despiteBanner: true });
  });

  test('the panel opens as a drawer, takes the focus, closes by Esc and gives it back', async () => {
    await on.openReady();
    const { page } = on.visit;
    expect(await page.locator('#panel').evaluate((panel: HTMLElement) => panel.inert)).toBe(true);
    await page.click('#activity-open');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('panel-close');
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('activity-open');
    expect(await page.locator('#panel').evaluate((panel: HTMLElement) => panel.inert)).toBe(true);
  });
});

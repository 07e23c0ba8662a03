// SPDX-License-Identifier: MIT
// Pictures of every state for people to look at, in build/screenshots: desktop and phone, light and dark.

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { useFixture } from './support/fixture.js';
import { MODEL_PATH, MODEL_ROUTE, SCREENSHOTS } from './support/repository.js';
import { sparseModel } from './support/gguf.js';
import { slowRoute } from './support/slow-route.js';

const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 },
} as const;

const MARKDOWN = `A **for** loop walks over things:

\`\`\`python
for name in ["Ada", "Grace"]:
    print(f"Hello, {name}!")
\`\`\`

1. \`name\` takes each value in turn.
2. The indented lines run once for each.

| loop | runs |
| --- | --- |
| for | over a list |
| while | until it is false |

> \`range(10)\` gives numbers.`;

const large = sparseModel(400e6);

beforeAll(() => {
  mkdirSync(SCREENSHOTS, { recursive: true });
});
afterAll(() => large.remove());

for (const device of ['desktop', 'phone'] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    describe(`${device}, ${colorScheme}`, () => {
      const on = useFixture({ visit: { ...SIZES[device], colorScheme, reducedMotion: 'reduce' } });

      async function picture(state: string): Promise<void> {
        const file = path.join(SCREENSHOTS, `${device}-${colorScheme}-${state}.png`);
        await on.visit.page.screenshot({ path: file });
        expect(statSync(file).size).toBeGreaterThan(5000);
      }

      test('downloading, waiting', async () => {
        on.server.routes.set(MODEL_ROUTE, slowRoute(MODEL_PATH, 3_400_000).route);
        await on.chat.open(on.server.url);
        await on.visit.page.waitForSelector('#pass[data-phase="arriving"]');
        await on.visit.page.waitForFunction(
          () => document.getElementById('pass-rate')?.textContent?.includes('left') ?? false,
        );
        await picture('downloading');
        await on.chat.send('How does Layerstream work?');
        await on.visit.page.waitForSelector('#pass-label:has-text("Answering")');
        await picture('waiting');
      });

      test('empty, answering, answered, panel, settings, markdown, conversations, menu', async () => {
        const { page } = on.visit;
        await on.openReady();
        await picture('empty');

        if (device === 'phone') await on.chat.setBudgetInDrawer('min');
        else await on.chat.setBudget('min');
        await on.chat.ready();
        await on.chat.ask('How does Layerstream work?');
        await on.chat.send('Tell me a story about a brave fox.');
        await page.waitForFunction(() => {
          const text = document.querySelector('#log > li:last-child .body')?.textContent ?? '';
          return text.length > 40;
        });
        await picture('answering');
        await on.chat.answer();
        await on.chat.ready();
        await picture('answered');

        await on.chat.openActivity();
        await page.click('.figures summary');
        await page.locator('#memory-title').evaluate((title) => title.scrollIntoView());
        await picture('panel');
        await page.click('#tab-settings');
        await picture('settings');
        await on.chat.closeDrawers();

        await on.chat.importChat('How do I write a loop in Python?', MARKDOWN);
        await picture('markdown');
        await on.chat.openSidebar();
        await page.hover('.conversation >> nth=0');
        await picture('conversations');
        await page.click('.conversations .icon-button >> nth=0');
        await picture('menu');
      });

      test('offline, error, error of an answer, editing', async () => {
        const { page } = on.visit;
        await on.openReady();
        await on.chat.offlineReady();
        await on.chat.ask('What is the capital of Norway?');
        await on.visit.context.setOffline(true);
        await page.waitForSelector('#privacy:has-text("Offline")');
        await picture('offline');
        await page.hover('#log > li.user');
        await page.click('button[aria-label="Edit message"]');
        await picture('editing');
        await page.keyboard.press('Escape');
        await on.chat.chooseFile('holiday.txt', Buffer.from('Sun, sand and sea. '.repeat(200)));
        await on.chat.problem();
        await on.chat.ready({ despiteBanner: true });
        await picture('error');
        await page.click('#banner button:has-text("Dismiss")');
        await on.chat.send('Tell me more. '.repeat(400));
        await page.waitForSelector('.turn .problem');
        await page.locator('.turn .problem').scrollIntoViewIfNeeded();
        await picture('error-answer');
      });

      test('models, own models, copying, checked, damaged, drop', async () => {
        const { page } = on.visit;
        await on.openReady();
        await on.chat.copyIn('my model.gguf', readFileSync(MODEL_PATH));
        await on.chat.opened('my model');
        await on.chat.ready();
        await on.chat.chooseDefault();
        await on.chat.opened('Tiny Chat');
        await on.chat.ready();
        await on.chat.modelOption('Tiny Chat', 'Check');
        await on.chat.jobWords();
        await picture('models');
        await page.locator('.file-picker').scrollIntoViewIfNeeded();
        await page.fill('#model-url', 'not an address');
        await page.click('#url-form button');
        await picture('own-models');
        await page.setInputFiles('#copy-file', large.file);
        await page.waitForSelector('.job progress[value]');
        await page.locator('.job progress').scrollIntoViewIfNeeded();
        await picture('copying');
        await page.click('.job button:has-text("Cancel")');
        await page.waitForSelector('.job progress', { state: 'detached' });

        await on.chat.damageStored('import:my%20model.gguf', 3_000_000);
        await page.click('.job button:has-text("Dismiss")');
        await on.chat.modelOption('my model', 'Check');
        await on.chat.jobWords();
        await page.locator('.page-title').scrollIntoViewIfNeeded();
        await picture('damaged');
        await on.chat.dragFile('another.gguf', Buffer.from('GGUF'));
        await picture('drop');
      });
    });
  }
}

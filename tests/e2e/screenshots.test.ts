// SPDX-License-Identifier: MIT
// Pictures of every state for people to look at, in build/screenshots: desktop and phone, light and dark.

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { useFixture } from './support/fixture.js';
import { MODEL_PATH, MODEL_ROUTE, SCREENSHOTS } from './support/repository.js';

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

beforeAll(() => {
  mkdirSync(SCREENSHOTS, { recursive: true });
});

for (const device of ['desktop', 'phone'] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    describe(`${device}, ${colorScheme}`, () => {
      const on = useFixture({ visit: { ...SIZES[device], colorScheme, reducedMotion: 'reduce' } });

      async function picture(state: string): Promise<void> {
        const file = path.join(SCREENSHOTS, `${device}-${colorScheme}-${state}.png`);
        await on.visit.page.screenshot({ path: file });
        expect(statSync(file).size).toBeGreaterThan(5000);
      }

      test('downloading', async () => {
        const bytes = readFileSync(MODEL_PATH);
        on.server.routes.set(MODEL_ROUTE, (_request, response) => {
          response.writeHead(200, {
            'Content-Type': 'application/octet-stream',
            'Content-Length': bytes.length,
          });
          response.write(bytes.subarray(0, 3_400_000));
          // Then a trickle: the page is told now and then, not of every byte.
          let at = 3_400_000;
          const trickle = setInterval(() => {
            response.write(bytes.subarray(at, at + 1000));
            at += 1000;
          }, 100);
          response.on('close', () => clearInterval(trickle));
        });
        await on.chat.open(on.server.url);
        await on.visit.page.waitForFunction(() =>
          / [56]\d %$/.test(document.getElementById('pass-figure')?.textContent ?? ''),
        );
        await picture('downloading');
      });

      test('empty, answering, answered, panel, settings, markdown, conversations, models, error', async () => {
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
        await on.chat.closeDrawers();
        await on.chat.openModels();
        await picture('models');
        await page.click('#models-open');

        await on.chat.chooseFile('holiday.txt', Buffer.from('Sun, sand and sea. '.repeat(200)));
        await on.chat.problem();
        await on.chat.ready({ despiteBanner: true });
        await picture('error');
      });
    });
  }
}

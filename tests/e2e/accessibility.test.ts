// SPDX-License-Identifier: MIT
// axe finds nothing to complain of in any state of the page, on a light desktop and on a dark phone.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import { describe, expect, test } from '@jest/globals';
import { useFixture } from './support/fixture.js';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const MARKDOWN = [
  '# Title\n\nSome *emphasis*, `code` and [a link](https://example.org/).',
  '- one\n- two\n  1. three',
  '```js\nconst x = 1;\n```',
  '| a | b |\n| --- | --: |\n| 1 | 2 |',
  '> quoted',
].join('\n\n');

for (const [device, colorScheme, viewport] of [
  ['desktop', 'light', { width: 1280, height: 800 }],
  ['phone', 'dark', { width: 360, height: 740 }],
] as const) {
  describe(`${device}, ${colorScheme}`, () => {
    const on = useFixture({ visit: { viewport, colorScheme, reducedMotion: 'reduce' } });

    /** What axe finds, as "rule: element". */
    async function findings(state: string): Promise<string[]> {
      const { page } = on.visit;
      // Content security policy: the page itself may not run text, so axe comes in through the debugger.
      await page.evaluate(readFileSync(axeFile, 'utf8'));
      return page.evaluate(async (name) => {
        const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
        const { violations } = await axe.run();
        return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${name}: ${id}: ${html}`));
      }, state);
    }

    test('empty, answered, every panel, the models, a menu, a problem', async () => {
      const { page } = on.visit;
      await on.openReady();
      const all = await findings('empty');
      await on.chat.importChat('How do I write Markdown?', MARKDOWN);
      all.push(...(await findings('answered')));
      await on.chat.openSidebar();
      await page.hover('.conversation');
      await page.click('.conversations .icon-button');
      all.push(...(await findings('menu')));
      await page.keyboard.press('Escape');
      await on.chat.closeDrawers();
      await page.hover('#log > li.user');
      await page.click('button[aria-label="Edit message"]');
      all.push(...(await findings('editing')));
      await page.keyboard.press('Escape');
      await on.chat.openActivity();
      all.push(...(await findings('activity')));
      await page.click('#tab-settings');
      await page
        .locator('.group > summary')
        .evaluateAll((summaries) => summaries.forEach((each) => (each as HTMLElement).click()));
      all.push(...(await findings('settings')));
      await on.chat.closeDrawers();
      await on.chat.openModels();
      await page.fill('#model-url', 'not an address');
      await page.click('#url-form button');
      all.push(...(await findings('models')));
      expect(all).toEqual([]);
    });
  });
}

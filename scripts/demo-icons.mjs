// SPDX-License-Identifier: MIT
// Draws the page's icons as PNG from demo/public/favicon.svg with Chromium, into demo/public/icons/. Run it when the
// drawing changes:  node scripts/demo-icons.mjs
import { mkdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { findChromium } from './lib/setup-system.mjs';

// A maskable icon may be cut to a circle of 80 %: the drawing keeps inside, its ground reaches the border.
const ICONS = [
  { name: '192', pixels: 192, share: 1, ground: 'transparent' },
  { name: '512', pixels: 512, share: 1, ground: 'transparent' },
  { name: 'apple-180', pixels: 180, share: 1, ground: '#0f5c56' },
  { name: 'maskable-512', pixels: 512, share: 0.8, ground: '#0f5c56' },
];

main(async () => {
  const drawing = readFileSync(inRoot('demo/public/favicon.svg'), 'utf8');
  mkdirSync(inRoot('demo/public/icons'), { recursive: true });
  const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
  const page = await browser.newPage();
  for (const { name, pixels, share, ground } of ICONS) {
    await page.setViewportSize({ width: pixels, height: pixels });
    await page.setContent(
      `<style>body { margin: 0; display: grid; place-items: center; height: 100vh; background: ${ground} }
       svg { width: ${share * 100}%; height: ${share * 100}% }</style>${drawing}`,
    );
    await page.screenshot({ path: inRoot(`demo/public/icons/${name}.png`), omitBackground: true });
  }
  await browser.close();
});

// SPDX-License-Identifier: MIT
// A headless Chromium on a profile folder of its own.
import { chromium } from 'playwright-core';
import { findChromium } from '../../../scripts/lib/setup-system.mjs';
import { findBrowser } from './processes.mjs';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...(process.env.CHROMIUM_FLAGS?.split(' ') ?? []),
];

/** Opens `url` in a fresh browser and waits for its `window.bench`; `use(page, root)` gets the process to account to. */
export async function withPage(profile, url, use) {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM_PATH ?? findChromium(),
    args: FLAGS,
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(0);
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('crash', () => errors.push('the page crashed'));
    await page.goto(url);
    await page.waitForFunction('window.bench !== undefined', null, { timeout: 30_000 }).catch((error) => {
      throw new Error(`${url} set no window.bench: ${errors.join('; ') || error.message}`);
    });
    return await use(page, findBrowser(profile));
  } finally {
    await context.close();
  }
}

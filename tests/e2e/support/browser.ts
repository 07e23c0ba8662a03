// SPDX-License-Identifier: MIT
// A browser with a profile folder of its own. A profile is what a returning visitor has, so "second visit" is a new
// browser process on the same folder. Complaints (errors on the console, uncaught errors, refused by the content
// security policy) are collected from the first moment and expected to be none.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function findChromium(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const candidates = [process.env['CHROMIUM_PATH'] ?? '', '/usr/bin/chromium'];
  for (const name of names) candidates.push(...folders.map((folder) => path.join(folder, name)));
  const found = candidates.find((file) => file !== '' && existsSync(file));
  if (found === undefined) throw new Error('no Chromium found; `npm test` installs it, or set CHROMIUM_PATH');
  return found;
}

export interface Profile {
  folder: string;
  remove(): void;
}

export function newProfile(): Profile {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-e2e-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  complaints: string[];
  /** Requests of the page and its workers, as the browser sees them. */
  requests: string[];
  close(): Promise<void>;
}

export type VisitOptions = Pick<
  BrowserContextOptions,
  'viewport' | 'colorScheme' | 'deviceScaleFactor' | 'reducedMotion'
>;

/** Starts a browser on the profile and opens a blank page; the test decides where to go. */
export async function startVisit(profile: Profile, options: VisitOptions = {}): Promise<Visit> {
  const context = await chromium.launchPersistentContext(profile.folder, {
    executablePath: findChromium(),
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const complaints: string[] = [];
  const requests: string[] = [];
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`content security policy: ${event.violatedDirective} refused ${event.blockedURI}`);
    });
  });
  context.on('request', (request) => requests.push(request.url()));
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  const page = context.pages()[0] ?? (await context.newPage());
  return { page, context, complaints, requests, close: () => context.close() };
}

// SPDX-License-Identifier: MIT
// Three browser engines behind one small interface: open an address, run a function in the page.

import puppeteer from 'puppeteer-core';
import { pathToFileURL } from 'node:url';
import { startVisit } from './browser.js';
import type { Profile } from './browser.js';
import { inRepository } from './repository.js';
import { WebDriver } from './webdriver.js';

interface SystemModule {
  findChromium(): string | null;
  findFirefox(): string | null;
  findWebKit(): { driver: string; browser: string } | null;
}

const system = (await import(
  pathToFileURL(inRepository('scripts', 'lib', 'setup-system.mjs')).href
)) as SystemModule;

type Driver = Pick<WebDriver, 'goto' | 'evaluate'> & { closeTab?(): Promise<void> };
type Package = typeof import('layerstream');

/** Functions that are run in it name nothing from outside themselves; arguments and results are JSON. */
export class Tab {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  goto(url: string): Promise<void> {
    return this.#driver.goto(url);
  }

  /** Where there can be others. */
  async close(): Promise<void> {
    await this.#driver.closeTab?.();
  }

  run<Argument, Result>(work: (argument: Argument) => Promise<Result>, argument: Argument): Promise<Result> {
    return this.#evaluate(`(${work.toString()})(${JSON.stringify(argument)})`);
  }

  /** With the package as it is published. */
  runWithPackage<Argument, Result>(
    work: (layerstream: Package, argument: Argument) => Promise<Result>,
    argument: Argument,
  ): Promise<Result> {
    const imported = `import(new URL('/dist/index.js', location.href).href)`;
    return this.#evaluate(
      `${imported}.then((layerstream) => (${work.toString()})(layerstream, ${JSON.stringify(argument)}))`,
    );
  }

  /** The result travels as text, so that every driver brings it home unchanged. */
  async #evaluate<Result>(promise: string): Promise<Result> {
    const text = await this.#driver.evaluate(
      `${promise}.then(
        (value) => JSON.stringify({ value }),
        (error) => JSON.stringify({ error: String(error) + '\\n' + String(error?.stack) }),
      )`,
    );
    const outcome = JSON.parse(String(text)) as { value: Result } | { error: string };
    if ('error' in outcome) throw new Error(`in the page: ${outcome.error}`);
    return outcome.value;
  }
}

export interface EngineVisit {
  tab: Tab;
  /** Beside the first; only where the engine keeps files that tabs could share. */
  newTab(): Promise<Tab>;
  close(): Promise<void>;
}

export interface BrowserEngine {
  name: string;
  installed: boolean;
  /** A browser process on the profile, which Chromium and Firefox keep for the next one. */
  start(profile: Profile): Promise<EngineVisit>;
}

interface ScriptedPage {
  goto(url: string): Promise<unknown>;
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

const scripted = (page: ScriptedPage): Tab =>
  new Tab({
    goto: async (url) => void (await page.goto(url)),
    evaluate: (expression) => page.evaluate(expression),
    closeTab: () => page.close(),
  });

export const CHROMIUM: BrowserEngine = {
  name: 'Chromium',
  installed: system.findChromium() !== null,
  async start(profile) {
    const { page, context, close } = await startVisit(profile);
    return { tab: scripted(page), newTab: async () => scripted(await context.newPage()), close };
  },
};

export const FIREFOX: BrowserEngine = {
  name: 'Firefox',
  installed: system.findFirefox() !== null,
  async start(profile) {
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: system.findFirefox() ?? '',
      userDataDir: profile.folder,
      headless: true,
      timeout: 60_000,
    });
    const newTab = async (): Promise<Tab> => scripted(await browser.newPage());
    return { tab: await newTab(), newTab, close: () => browser.close() };
  },
};

export const WEBKIT: BrowserEngine = {
  name: 'WebKitGTK',
  installed: system.findWebKit() !== null,
  async start() {
    const { driver = '', browser = '' } = system.findWebKit() ?? {};
    const session = await WebDriver.start(driver, browser);
    return {
      tab: new Tab(session),
      newTab: () => Promise.reject(new Error('one tab is all that is driven here')),
      close: () => session.close(),
    };
  },
};

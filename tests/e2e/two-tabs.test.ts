// SPDX-License-Identifier: MIT
// Two real tabs want the same model: one downloads it, the other follows, and goes on when the first is closed.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { RangedFile } from '../jest/support/model-server.js';
import { newProfile } from './support/browser.js';
import type { Profile } from './support/browser.js';
import { CHROMIUM, FIREFOX } from './support/engines.js';
import type { EngineVisit, Tab } from './support/engines.js';
import { MODEL_PATH } from './support/repository.js';
import { startServer } from './support/server.js';
import type { DemoServer } from './support/server.js';

const bytes = readFileSync(MODEL_PATH);
const ROUTE = '/slow/model.gguf';
/** What several connections may have had under way when their tab was closed. */
const LOST_BYTES = 4 << 20;

interface Outcome {
  tokens: number[];
  seen: number[];
  storage: string;
}

/** Loads the model, answers when all of it is there, and keeps it. */
function loadAndAnswer(tab: Tab): Promise<Outcome> {
  return tab.runWithPackage(async ({ loadModel }, url) => {
    const seen: number[] = [];
    const model = await loadModel(url, {
      waitFor: 'stored',
      onProgress: ({ phase, loadedBytes }) => phase === 'download' && seen.push(loadedBytes),
    });
    const tokens: number[] = [];
    for await (const chunk of model.complete('Who are you?', { maxTokens: 8, ignoreEos: true }))
      tokens.push(...chunk.tokens);
    return { tokens, seen, storage: model.info.storage };
  }, ROUTE);
}

for (const engine of [CHROMIUM, FIREFOX]) {
  (engine.installed ? describe : describe.skip)(engine.name, () => {
    let profile: Profile;
    let visit: EngineVisit;
    let server: DemoServer;
    let file: RangedFile;
    let tabs: [Tab, Tab];

    beforeEach(async () => {
      server = await startServer();
      file = new RangedFile(bytes, { bytesPerSecond: 1.5e6 });
      server.routes.set(ROUTE, file.answer);
      server.routes.set('/bare.html', (_, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end('<!doctype html><title>bare</title>');
      });
      profile = newProfile();
      visit = await engine.start(profile);
      tabs = [visit.tab, await visit.newTab()];
      for (const tab of tabs) await tab.goto(new URL('bare.html', server.url).href);
    });
    afterEach(async () => {
      await visit.close();
      await server.close();
      profile.remove();
    });

    async function sentAtLeast(count: number): Promise<void> {
      while (file.sentBytes < count) await new Promise((resolve) => setTimeout(resolve, 20));
    }

    test('both run it; every byte is sent once, and both see it arrive', async () => {
      const first = loadAndAnswer(tabs[0]);
      await sentAtLeast(1_000_000);
      const outcomes = await Promise.all([first, loadAndAnswer(tabs[1])]);
      expect(outcomes.map(({ storage }) => storage)).toEqual(['opfs', 'opfs']);
      expect(outcomes[0]?.tokens).toHaveLength(8);
      expect(outcomes[1]?.tokens).toEqual(outcomes[0]?.tokens);
      for (const { seen } of outcomes) {
        expect(seen.filter((loaded) => loaded > 0 && loaded < bytes.length).length).toBeGreaterThan(3);
      }
      expect(file.timesSent.every((times) => times === 1)).toBe(true);
    });

    test('when the first is closed half way, the second fetches the rest', async () => {
      const first = loadAndAnswer(tabs[0]);
      first.catch(() => undefined);
      await sentAtLeast(1_000_000);
      const second = loadAndAnswer(tabs[1]);
      await sentAtLeast(bytes.length / 2);
      await tabs[0].close();
      const { tokens, seen } = await second;
      expect(tokens).toHaveLength(8);
      expect(seen.at(-1)).toBe(bytes.length);
      expect(file.timesSent.every((times) => times >= 1)).toBe(true);
      expect(file.sentBytes - bytes.length).toBeLessThan(LOST_BYTES);
    });
  });
}

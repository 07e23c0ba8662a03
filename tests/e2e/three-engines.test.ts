// SPDX-License-Identifier: MIT
// The same page, package and model in Chromium, Firefox and WebKitGTK (which has one thread, no relaxed SIMD, no file
// system): the same ids and the same bits, and each says truthfully what it has.

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Capabilities, EngineBuild, LoadOptions, TokenLogprobs } from 'layerstream';
import { newProfile } from './support/browser.js';
import type { Profile } from './support/browser.js';
import { expectedAnswer } from './support/chat-page.js';
import { CHROMIUM, FIREFOX, WEBKIT } from './support/engines.js';
import type { BrowserEngine, EngineVisit, Tab } from './support/engines.js';
import { MODEL_ROUTE } from './support/repository.js';
import { startServer } from './support/server.js';
import type { DemoServer } from './support/server.js';

interface Expected {
  has: Omit<Capabilities, 'slowFormats'>;
  build: EngineBuild;
}

const everything = { simd: true, relaxedSimd: true, threads: true, opfs: true, crossOriginIsolated: true };
const ENGINES: [BrowserEngine, Expected][] = [
  [CHROMIUM, { has: everything, build: 'threads-relaxed' }],
  [FIREFOX, { has: everything, build: 'threads-relaxed' }],
  [WEBKIT, { has: { ...everything, relaxedSimd: false, threads: false, opfs: false }, build: 'single-simd' }],
];

const PROMPT = 'Who are you?';
const CHAT = 'What is the capital of Norway?';
const ANSWER_TOKENS = 24;

interface Answer {
  tokens: number[];
  logprobs: TokenLogprobs[];
  build: EngineBuild;
  threads: number;
  storage: string;
  storageReason: string | null;
}

/** Loads the model and answers with some randomness and log-probabilities, so that every bit counts. */
function answer(tab: Tab, load: LoadOptions = {}, { asFile = false } = {}): Promise<Answer> {
  return tab.runWithPackage(
    async ({ loadModel }, { url, prompt, maxTokens, load, asFile }) => {
      const source = asFile ? new File([await (await fetch(url)).blob()], 'model.gguf') : url;
      const model = await loadModel(source, load);
      const tokens: number[] = [];
      const logprobs: TokenLogprobs[] = [];
      const settings = { temperature: 1.2, seed: 5, maxTokens, ignoreEos: true, logprobs: 20 };
      for await (const chunk of model.complete(prompt, settings)) {
        tokens.push(...chunk.tokens);
        logprobs.push(...(chunk.logprobs ?? []));
      }
      const { engineBuild: build, threads, storage, storageReason } = model.info;
      await model.dispose();
      return { tokens, logprobs, build, threads, storage, storageReason };
    },
    { url: MODEL_ROUTE, prompt: PROMPT, maxTokens: ANSWER_TOKENS, load, asFile },
  );
}

/** The ids of a greedy answer that is aborted or left in the middle, and of the next ones, one after another. */
function interrupted(
  tab: Tab,
): Promise<{ aborted: string; seen: number; left: number[]; whole: number[][] }> {
  return tab.runWithPackage(
    async ({ loadModel }, { url, prompt }) => {
      const model = await loadModel(url);
      const whole: number[][] = [];
      const settings = { maxTokens: 24, ignoreEos: true };
      const answerWhole = async (): Promise<void> => {
        const tokens: number[] = [];
        for await (const chunk of model.complete(prompt, settings)) tokens.push(...chunk.tokens);
        whole.push(tokens);
      };
      await answerWhole();
      const controller = new AbortController();
      let seen = 0;
      const aborted = await (async () => {
        const long = { ...settings, maxTokens: 400, signal: controller.signal };
        for await (const chunk of model.complete(prompt, long)) {
          seen += chunk.tokens.length;
          controller.abort(new Error('enough'));
        }
        return 'not aborted';
      })().catch((error: unknown) => String(error));
      await answerWhole();
      const left: number[] = [];
      for await (const chunk of model.complete(prompt, { ...settings, maxTokens: 400 })) {
        left.push(...chunk.tokens);
        break;
      }
      await answerWhole();
      await model.dispose();
      return { aborted, seen, left, whole };
    },
    { url: MODEL_ROUTE, prompt: PROMPT },
  );
}

/** Asks the chat page as a person does: types, presses Enter, waits until the answer is whole. */
function askDemo(tab: Tab, prompt: string): Promise<string> {
  return tab.run(async (words) => {
    const until = async <T>(find: () => T | null | undefined | false): Promise<T> => {
      for (const begin = performance.now(); performance.now() - begin < 60_000;) {
        const found = find();
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`waited in vain; the page shows: ${document.body.innerText}`);
    };
    const message = await until(
      () =>
        document.getElementById('pass')?.dataset['phase'] === 'ready' &&
        document.querySelector<HTMLTextAreaElement>('#message'),
    );
    message.value = words;
    message.dispatchEvent(new Event('input', { bubbles: true }));
    message.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    const turn = await until(() =>
      document.querySelector('#log > li.assistant:last-child[aria-busy="false"] .body'),
    );
    return turn.textContent ?? '';
  }, prompt);
}

async function serve(isolated: boolean): Promise<DemoServer> {
  const server = await startServer({ isolated });
  server.routes.set('/bare.html', (_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>bare</title>');
  });
  return server;
}

const bare = (server: DemoServer): string => new URL('bare.html', server.url).href;
const downloads = (server: DemoServer): number =>
  server.hits(MODEL_ROUTE).filter(({ method }) => method === 'GET').length;

let reference: Pick<Answer, 'tokens' | 'logprobs'>;

beforeAll(async () => {
  const server = await serve(true);
  const profile = newProfile();
  const visit = await CHROMIUM.start(profile);
  try {
    await visit.tab.goto(bare(server));
    const { tokens, logprobs } = await answer(visit.tab, { engineBuild: 'single-simd' });
    reference = { tokens, logprobs };
  } finally {
    await visit.close();
    await server.close();
    profile.remove();
  }
});

test('the reference, of the plainest build in Chromium, is whole', () => {
  expect(reference.tokens).toHaveLength(ANSWER_TOKENS);
  expect(reference.logprobs).toHaveLength(ANSWER_TOKENS);
});

for (const [engine, { has, build }] of ENGINES) {
  const title = `${engine.name}${engine.installed ? '' : ' (NOT RUN: not installed here, and set-up could not)'}`;
  (engine.installed ? describe : describe.skip)(title, () => {
    let profile: Profile;
    let visit: EngineVisit;
    let server: DemoServer;

    const arrive = async (isolated: boolean): Promise<void> => {
      server = await serve(isolated);
      await visit.tab.goto(bare(server));
    };

    beforeAll(async () => {
      profile = newProfile();
      visit = await engine.start(profile);
    });
    afterAll(async () => {
      await visit.close();
      profile.remove();
    });
    afterEach(() => server.close());

    test('capabilities() says what there is, and loading a model keeps to it', async () => {
      await arrive(true);
      const says = await visit.tab.runWithPackage(({ capabilities }) => capabilities(), null);
      expect(says).toEqual({ ...has, slowFormats: [] });
      const model = await answer(visit.tab);
      expect(model.build).toBe(build);
      expect(model.threads > 1).toBe(has.threads);
      expect(model.storage).toBe(has.opfs ? 'opfs' : 'memory');
      expect(model.storageReason).toEqual(has.opfs ? null : expect.stringContaining('no file system'));
    });

    test('the ids and every bit are those of the other engines: resident, streamed, from a File', async () => {
      await arrive(true);
      const streamed = { memoryBudget: 'min', unitBytes: 512 << 10 } as const;
      expect(await answer(visit.tab)).toMatchObject(reference);
      expect(await answer(visit.tab, streamed)).toMatchObject(reference);
      expect(await answer(visit.tab, streamed, { asFile: true })).toMatchObject(reference);
    });

    test('a page that is not isolated computes the same with one thread', async () => {
      await arrive(false);
      const says = await visit.tab.runWithPackage(({ capabilities }) => capabilities(), null);
      expect(says).toMatchObject({ threads: false, crossOriginIsolated: false });
      expect(await answer(visit.tab)).toMatchObject({ ...reference, threads: 1 });
    });

    test('an answer that is aborted or left does not disturb the next', async () => {
      await arrive(true);
      const { aborted, seen, left, whole } = await interrupted(visit.tab);
      expect(aborted).toBe('Error: enough');
      expect(seen).toBeLessThan(400);
      expect(whole[0]).toHaveLength(24);
      expect(whole).toEqual([whole[0], whole[0], whole[0]]);
      expect(left.slice(0, 24)).toEqual(whole[0]?.slice(0, left.length));
    });

    if (has.opfs) {
      test('a second visit finds the model in the file system; the server is not asked for it', async () => {
        await arrive(true);
        await answer(visit.tab);
        expect(downloads(server)).toBe(1);
        await visit.close();
        visit = await engine.start(profile);
        await visit.tab.goto(bare(server));
        expect(await answer(visit.tab)).toMatchObject({ ...reference, storage: 'opfs' });
        expect(downloads(server)).toBe(1);
      });

      test('a second tab reads the stored model while the first has it open, and cannot delete it', async () => {
        await arrive(true);
        await visit.tab.runWithPackage(
          async ({ loadModel }, url) => (await loadModel(url)).stored,
          MODEL_ROUTE,
        );
        const second = await visit.newTab();
        await second.goto(bare(server));
        expect(await answer(second)).toMatchObject({
          ...reference,
          storage: 'opfs',
        });
        expect(downloads(server)).toBe(1);
        const deletion = second.runWithPackage(({ deleteModel }, url) => deleteModel(url), MODEL_ROUTE);
        await expect(deletion).rejects.toThrow('in use by another tab');
      });
    } else {
      test('without a file system the model stays for as long as the tab, and is listed as such', async () => {
        await arrive(true);
        await answer(visit.tab);
        await answer(visit.tab);
        expect(downloads(server)).toBe(1);
        const listed = await visit.tab.runWithPackage(({ listModels }) => listModels(), null);
        expect(listed).toMatchObject([{ complete: true }]);
        await visit.tab.goto(bare(server));
        expect(await visit.tab.runWithPackage(({ listModels }) => listModels(), null)).toEqual([]);
      });
    }

    test('the chat page answers in the words that llama.cpp gives', async () => {
      await arrive(true);
      await visit.tab.goto(server.url);
      expect(await askDemo(visit.tab, CHAT)).toBe(expectedAnswer(CHAT));
      // By now a service worker may answer for the page.
      await visit.tab.goto(server.url);
      expect(await askDemo(visit.tab, CHAT)).toBe(expectedAnswer(CHAT));
    });
  });
}

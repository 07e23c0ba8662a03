// SPDX-License-Identifier: MIT
// The four builds of the engine in a real browser, from the package as it is published: the same bits, whatever the
// instruction set and the number of threads.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { EngineBuild, LoadOptions, TokenLogprobs } from 'layerstream';
import { newProfile, startVisit } from './support/browser.js';
import type { Profile, Visit } from './support/browser.js';
import { GOLDEN } from './support/repository.js';
import { startServer } from './support/server.js';
import type { DemoServer } from './support/server.js';

const MODEL = '/models/tinychat/tinychat-q8_0.gguf';
const PROMPT = 'Who are you?';

interface Answer {
  tokens: number[];
  build: string;
  threads: number;
}

/** Loads the model in a bare page that imports the package, and answers with some randomness, so that every bit counts. */
function answer(page: Page, options: LoadOptions): Promise<Answer> {
  return page.evaluate(
    async ([url, prompt, load]) => {
      const { loadModel } = (await import(
        new URL('/dist/index.js', location.href).href
      )) as typeof import('layerstream');
      const model = await loadModel(url, load);
      const tokens: number[] = [];
      const settings = { temperature: 1.2, seed: 5, maxTokens: 48, ignoreEos: true };
      for await (const chunk of model.complete(prompt, settings)) tokens.push(...chunk.tokens);
      const { engineBuild, threads } = model.info;
      await model.dispose();
      return { tokens, build: engineBuild, threads };
    },
    [MODEL, PROMPT, options] as const,
  );
}

/** Of eight tokens after the ids, with the fifty most probable ones of each: enough numbers that a wrong bit shows. */
function logprobs(page: Page, url: string, ids: number[], options: LoadOptions): Promise<TokenLogprobs[]> {
  return page.evaluate(
    async ([from, prompt, load]) => {
      const { loadModel } = (await import(
        new URL('/dist/index.js', location.href).href
      )) as typeof import('layerstream');
      const model = await loadModel(new File([await (await fetch(from)).blob()], 'model.gguf'), load);
      const all: TokenLogprobs[] = [];
      for await (const chunk of model.complete(prompt, { maxTokens: 8, ignoreEos: true, logprobs: 50 })) {
        all.push(...(chunk.logprobs ?? []));
      }
      await model.dispose();
      return all;
    },
    [url, ids, options] as const,
  );
}

let server: DemoServer;
let profile: Profile;
let visit: Visit;

async function arrive(isolated: boolean): Promise<void> {
  server = await startServer({ isolated });
  server.routes.set('/bare.html', (_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>bare</title>');
  });
  profile = newProfile();
  visit = await startVisit(profile);
  await visit.page.goto(new URL('bare.html', server.url).href);
}

afterEach(async () => {
  const { complaints } = visit;
  await visit.close();
  await server.close();
  profile.remove();
  expect(complaints.filter((text) => !text.includes('favicon') && !text.includes('404'))).toEqual([]);
});

describe('on an isolated page', () => {
  beforeEach(() => arrive(true));

  test('every build with any number of threads and any budget gives the same tokens', async () => {
    const reference = await answer(visit.page, { engineBuild: 'single-simd' });
    expect(reference.tokens).toHaveLength(48);
    const builds: EngineBuild[] = ['single-relaxed', 'threads-simd', 'threads-relaxed'];
    for (const engineBuild of builds) {
      for (const memoryBudget of [Infinity, 'min'] as const) {
        const threads = engineBuild.startsWith('threads') ? 3 : 1;
        const got = await answer(visit.page, { engineBuild, memoryBudget, threads, unitBytes: 64 << 10 });
        expect(got).toEqual({ tokens: reference.tokens, build: engineBuild, threads });
      }
    }
  });

  test('every tensor type gives the same log-probabilities with the relaxed dot product and without', async () => {
    const names = readdirSync(GOLDEN).filter(
      (name) => existsSync(path.join(GOLDEN, name, 'meta.json')) && /quant|q[48]_0|f16/.test(name),
    );
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) {
      const ids = readFileSync(path.join(GOLDEN, name, 'tokens.txt'), 'utf8')
        .trim()
        .split(/\s+/)
        .map(Number);
      const run = (engineBuild: EngineBuild): Promise<TokenLogprobs[]> =>
        logprobs(visit.page, `/golden/${name}/model.gguf`, ids, { engineBuild, contextLength: 128 });
      const plain = await run('single-simd');
      expect(plain).toHaveLength(8);
      expect({ name, logprobs: await run('single-relaxed') }).toEqual({ name, logprobs: plain });
    }
  });

  test('the fastest one is chosen', async () => {
    const cores = await visit.page.evaluate(() => navigator.hardwareConcurrency);
    const { build, threads } = await answer(visit.page, {});
    expect(build).toBe(cores > 1 ? 'threads-relaxed' : 'single-relaxed');
    expect(threads).toBe(cores <= 4 ? cores : Math.min(8, Math.ceil(cores / 2)));
    expect(await answer(visit.page, { threads: 1 })).toMatchObject({ build: 'single-relaxed', threads: 1 });
  });
});

describe('on a page that is not isolated', () => {
  beforeEach(() => arrive(false));

  test('one thread computes, and a build with threads is refused with the reason', async () => {
    expect(await answer(visit.page, { threads: 4 })).toMatchObject({ build: 'single-relaxed', threads: 1 });
    await expect(answer(visit.page, { engineBuild: 'threads-simd' })).rejects.toThrow('isolated');
  });
});

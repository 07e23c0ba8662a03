// SPDX-License-Identifier: MIT
// One trial of an engine's page, and what its runs say. A run is [prompt tokens, tokens to generate].

/**
 * A prompt that every engine can be given: as ids, or as letters that the synthetic tokenizer turns into these ids (a word
 * border, then bytes). The salt makes each prompt new, so that no cache helps.
 */
export function promptIds(count, salt) {
  const letter = (i) => 3 + 97 + ((i * 7919 + salt * 104729 + ((i * i) >> 3)) % 26);
  return Array.from({ length: count }, (_, i) => (i === 0 ? 259 : letter(i)));
}

/** Loads a stored model in an engine's page (the contract: engines/layerstream/page.mjs) and measures the runs. */
export async function pageTrial(page, { url, threads, ctx, params, runs, salt }) {
  const load = await page.evaluate((call) => window.bench.load(call), { url, threads, ctx, params });
  const generate = (call) => page.evaluate((arg) => window.bench.generate(arg), call);
  await generate({ prompt: promptIds(32, 1), n: 8 }); // caches, compilers
  const results = [];
  for (const [prompt, n] of runs) {
    results.push({ prompt, n, ...(await generate({ prompt: promptIds(prompt, salt), n })) });
  }
  return { load, runs: results };
}

/** tok/s. Prefill by the wall clock until the first token; decode from the first token to the last. */
export const prefillRate = (run) => run.prompt / (run.wall.ttftMs / 1000);
export const decodeRate = (run) => (run.n - 1) / (run.wall.decodeMs / 1000);

/** [[128, 64], ...] of "128:64,512:64". */
export const parseRuns = (text) => text.split(',').map((run) => run.split(':').map(Number));

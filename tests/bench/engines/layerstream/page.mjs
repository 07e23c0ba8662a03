// SPDX-License-Identifier: MIT
// Our page for the harness. Every engine's page sets window.bench with the same calls:
//   info()                             { name, ... }
//   download({ url })                  { ms }                      into the engine's own store
//   load({ url, threads, ctx, params }) { ms, ... }                from the store
//   generate({ prompt: [ids], n })     { wall: { ttftMs, decodeMs, totalMs }, own: { promptN, promptMs, n, ms } | null }
//                                      greedy, not stopped by the model's end, the cache not reused
//   unload(), clear()
import { capabilities, deleteModel, listModels, loadModel } from '/dist/index.js';

let model = null;
const absolute = (url) => new URL(url, location.href).href;

window.bench = {
  info: async () => ({ name: 'layerstream', ...(await capabilities()), agent: navigator.userAgent }),

  async download({ url }) {
    const began = performance.now();
    const loaded = await loadModel(absolute(url), { memoryBudget: 'min', contextLength: 64 });
    await loaded.dispose();
    return { ms: performance.now() - began };
  },

  async load({ url, threads, ctx = 1024, params = {} }) {
    const began = performance.now();
    const options = { threads, contextLength: ctx, memoryBudget: Infinity, ...params };
    model = await loadModel(absolute(url), options);
    // Weights are read by the first pass: one token, so that loading means the same as elsewhere.
    await model.complete([1], { maxTokens: 1 }).text();
    const { engineBuild, storage } = model.info;
    return {
      ms: performance.now() - began,
      threads: model.info.threads,
      engineBuild,
      storage,
      memory: await model.memory(),
    };
  },

  async generate({ prompt, n }) {
    const began = performance.now();
    let first = 0;
    let stats = null;
    for await (const chunk of model.complete(prompt, { maxTokens: n, ignoreEos: true })) {
      first ||= performance.now();
      stats = chunk.stats ?? stats;
    }
    const ended = performance.now();
    const { promptTokens, reusedTokens, prefillMs, completionTokens, decodeMs, bytesRead } = stats;
    if (promptTokens !== prompt.length || completionTokens !== n)
      throw new Error('not all tokens were computed');
    return {
      wall: { ttftMs: first - began, decodeMs: ended - first, totalMs: ended - began },
      own: {
        promptN: promptTokens - reusedTokens,
        promptMs: prefillMs,
        n: completionTokens,
        ms: decodeMs,
        bytesRead,
      },
      memory: await model.memory(),
    };
  },

  async unload() {
    await model?.dispose();
    model = null;
  },

  async clear() {
    for (const { url } of await listModels()) await deleteModel(url);
  },
};

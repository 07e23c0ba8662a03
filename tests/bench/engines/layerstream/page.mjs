// SPDX-License-Identifier: MIT
// Our page for the harness. Every engine's page sets window.bench with the same calls:
//   info()                             { name, ... }
//   download({ url })                  { ms }                      into the engine's own store
//   load({ url, threads, ctx, params }) { ms, ... }                from the store
//   generate({ prompt: [ids], n })     { wall: { ttftMs, decodeMs, totalMs }, own: { promptN, promptMs, n, ms } | null }
//                                      greedy, not stopped by the model's end, the cache not reused
//   unload(), clear()
// and, for stream.mjs, ours alone: plan, sweep, rawRead, firstToken.
import { capabilities, deleteModel, listModels, loadModel, planModel } from '/dist/index.js';

let model = null;
const absolute = (url) => new URL(url, location.href).href;

window.bench = {
  info: async () => ({ name: 'layerstream', ...(await capabilities()), agent: navigator.userAgent }),

  async download({ url }) {
    const began = performance.now();
    const options = { memoryBudget: 'min', contextLength: 64, waitFor: 'stored' };
    const loaded = await loadModel(absolute(url), options);
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

  plan: ({ url, options }) => planModel(absolute(url), options).then(({ details: _, ...plan }) => plan),

  /** A prompt as one pass, for at most so long: how far it came, in blocks of one sweep. */
  async sweep({ prompt, limitMs }) {
    const began = performance.now();
    const far = { block: 0, blockCount: 1, passes: 0 };
    const answer = model.complete(prompt, {
      maxTokens: 1,
      ignoreEos: true,
      onProgress: ({ phase, block, blockCount, promptTokensDone, promptTokens }) => {
        if (phase !== 'prefill') return;
        Object.assign(far, { block, blockCount, done: promptTokensDone === promptTokens });
        if (performance.now() - began > limitMs) answer.stop();
      },
    });
    await answer.text();
    return { ...far, seconds: (performance.now() - began) / 1000 };
  },

  rawRead: (call) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('raw-read-worker.mjs', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => {
        worker.terminate();
        resolve(data);
      };
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(call);
    }),

  /** From nothing: download, and the first token as soon as the engine can give it. */
  async firstToken({ url, prompt, options }) {
    const began = performance.now();
    const since = () => performance.now() - began;
    const marks = {};
    model = await loadModel(absolute(url), {
      ...options,
      onProgress: ({ phase, loadedBytes, totalBytes }) => {
        if (phase === 'download' && loadedBytes === totalBytes) marks.downloadedMs ??= since();
      },
    });
    marks.loadedMs = since();
    let last = 0;
    const steps = [];
    for await (const { tokens } of model.complete(prompt, { maxTokens: 4, ignoreEos: true })) {
      if (tokens.length === 0) continue;
      marks.firstTokenMs ??= since();
      if (last > 0) steps.push((since() - last) / tokens.length);
      last = since();
    }
    return { ...marks, stepMs: steps.length > 0 ? Math.min(...steps) : null };
  },

  async unload() {
    await model?.dispose();
    model = null;
  },

  async clear() {
    for (const { url } of await listModels()) await deleteModel(url);
  },
};

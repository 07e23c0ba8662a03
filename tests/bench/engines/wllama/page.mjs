// SPDX-License-Identifier: MIT
// wllama's page for the harness (the contract is in ../layerstream/page.mjs). CPU only: its default is all layers on the GPU.
import { Wllama } from '/npm/@wllama/wllama/esm/index.js';

const logs = [];
const keep =
  (level) =>
  (...words) => {
    if (logs.length < 4000)
      logs.push(`${level} ${words.map((word) => word?.message ?? String(word)).join(' ')}`.slice(0, 600));
  };
const logger = { debug: keep('D'), log: keep('L'), warn: keep('W'), error: keep('E') };
const create = () =>
  new Wllama({ default: '/npm/@wllama/wllama/esm/wasm/wllama.wasm' }, { logger, allowOffline: true });
const absolute = (url) => new URL(url, location.href).href;
let engine = null;

window.bench = {
  logs: () => logs,
  info: () => ({ name: 'wllama', version: Wllama.getLibllamaVersion(), agent: navigator.userAgent }),

  async download({ url }) {
    const began = performance.now();
    await create().modelManager.downloadModel(absolute(url), {});
    return { ms: performance.now() - began };
  },

  async load({ url, threads, ctx = 1024, params = {} }) {
    engine = create();
    const began = performance.now();
    const stored = await engine.modelManager.getModelOrDownload(absolute(url), {});
    const options = {
      n_gpu_layers: 0,
      n_threads: threads,
      n_ctx: ctx,
      n_parallel: 1,
      log_level: 2,
      ...params,
    };
    await engine.loadModel(await stored.open(), options);
    const ms = performance.now() - began;
    // loadModel() resolves even when the model did not load.
    if (!engine.getLoadedContextInfo().n_ctx) {
      throw new Error(
        `load failed: ${logs
          .filter((line) => line.startsWith('E'))
          .slice(0, 3)
          .join(' | ')}`,
      );
    }
    return { ms, threads: engine.getNumThreads() };
  },

  async generate({ prompt, n }) {
    const began = performance.now();
    let [first, timings] = [0, null];
    await engine.createCompletion({
      // It takes text only: letters, which the synthetic tokenizer turns into these very ids.
      prompt: String.fromCharCode(...prompt.slice(1).map((id) => id - 3)),
      max_tokens: n,
      n_predict: n,
      temperature: 0,
      ignore_eos: true,
      cache_prompt: false,
      stream: true,
      timings_per_token: true,
      onData: (chunk) => {
        first ||= performance.now();
        timings = chunk.timings ?? timings;
      },
    });
    const ended = performance.now();
    if (timings && timings.prompt_n !== prompt.length)
      throw new Error(`it saw ${timings.prompt_n} tokens of ${prompt.length}`);
    return {
      wall: { ttftMs: first - began, decodeMs: ended - first, totalMs: ended - began },
      own: timings && {
        promptN: timings.prompt_n,
        promptMs: timings.prompt_ms,
        n: timings.predicted_n,
        ms: timings.predicted_ms,
      },
    };
  },

  async unload() {
    await engine?.exit();
    engine = null;
  },

  async clear() {
    await create().cacheManager.clear();
  },
};

// SPDX-License-Identifier: MIT
// Engines side by side in one Chromium: per model and thread count, each round runs every engine once, in turned order
// (A B B A), each trial in a fresh browser process on the same profile, so that the engines' stores are filled.
//   npm run bench:peers -- [--engines wllama,layerstream] [--models smol135m-Q4_K,...] [--threads 1,2] [--runs 128:64,512:16]
//                          [--rounds 5] [--wait 30] [--out FILE.json] [--models-folder DIR] [--params '{"engineBuild":"..."}']
// Models are generated when they are not there. Prints a table of medians and ratios; --out has every trial.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createStaticServer } from '../../scripts/lib/static-server.mjs';
import { inRoot } from '../../scripts/lib/paths.mjs';
import { withPage } from './lib/browser.mjs';
import { calm, processorTime, rendererMemory } from './lib/processes.mjs';
import { writeModel } from './lib/synthetic-model.mjs';
import { median, spread } from './lib/statistics.mjs';
import { decodeRate, pageTrial, parseRuns, prefillRate } from './lib/trials.mjs';

const { values: flags } = parseArgs({
  options: {
    engines: { type: 'string', default: 'wllama,layerstream' },
    models: {
      type: 'string',
      default:
        'smol135m-Q4_K,smol135m-Q8_0,smol135m-Q4_0,qwen05b-Q4_K,llama1b-Q4_K,llama1b-Q8_0,llama1b-Q4_0',
    },
    threads: { type: 'string', default: '1,2' },
    runs: { type: 'string', default: '128:64,512:64' },
    rounds: { type: 'string', default: '5' },
    wait: { type: 'string', default: '30' },
    ctx: { type: 'string', default: '1024' },
    params: { type: 'string', default: '{}' },
    out: { type: 'string' },
    'models-folder': { type: 'string', default: path.join(os.tmpdir(), 'layerstream-bench-models') },
  },
});

const list = (text) => text.split(',');
const engines = list(flags.engines);
const runs = parseRuns(flags.runs);
const rounds = Number(flags.rounds);
const trials = [];

async function trial(server, profile, engine, model, threads, round) {
  const busyBefore = await calm(Number(flags.wait));
  return withPage(profile, `${server}e/${engine}/`, async (page, root) => {
    const empty = rendererMemory(root);
    const before = processorTime(root);
    const { load, runs: results } = await pageTrial(page, {
      url: `/models/${model}.gguf`,
      threads,
      ctx: Number(flags.ctx),
      params: engine === 'layerstream' ? JSON.parse(flags.params) : {},
      runs,
      salt: 17 + round,
    });
    const memory = rendererMemory(root);
    const after = processorTime(root);
    const foreign = (after.busy - before.busy - (after.own - before.own)) / (after.all - before.all);
    return {
      engine,
      model,
      threads,
      round,
      load,
      runs: results,
      memory: { empty, end: memory },
      busyBefore,
      foreign,
    };
  });
}

function report(model, threads, byEngine) {
  for (const engine of engines) {
    const own = byEngine.get(engine);
    const peak = median(own.map(({ memory }) => memory.end.peak - memory.empty.peak)) / 2 ** 20;
    console.log(
      `${model} ${threads} thread(s) ${engine}: load ${spread(own.map(({ load }) => load.ms / 1000))} s, peak memory ` +
        `+${peak.toFixed(0)} MiB, other work ${own.map(({ foreign }) => `${Math.round(foreign * 100)}%`).join(' ')}`,
    );
    runs.forEach(([prompt, n], i) => {
      const these = own.map((one) => one.runs[i]);
      console.log(
        `   ${prompt} + ${n}: prefill ${spread(these.map(prefillRate))}, decode ${spread(these.map(decodeRate))} tok/s`,
      );
    });
  }
  const [first, ...others] = engines;
  for (const engine of others) {
    runs.forEach(([prompt, n], i) => {
      const ratio = (rate) =>
        spread(
          byEngine.get(engine).map((one, k) => rate(one.runs[i]) / rate(byEngine.get(first)[k].runs[i])),
        );
      console.log(
        `   ${engine} / ${first}, ${prompt} + ${n}: prefill x${ratio(prefillRate)}, decode x${ratio(decodeRate)}`,
      );
    });
  }
}

async function compare(server, profile, model) {
  for (const engine of engines) {
    const stored = await withPage(profile, `${server}e/${engine}/`, (page) =>
      page.evaluate((call) => window.bench.download(call), { url: `/models/${model}.gguf` }),
    );
    console.log(`${model} ${engine}: download and store ${(stored.ms / 1000).toFixed(1)} s`);
  }
  for (const threads of list(flags.threads).map(Number)) {
    const byEngine = new Map(engines.map((engine) => [engine, []]));
    for (let round = 0; round < rounds; ++round) {
      for (const engine of round % 2 === 0 ? engines : [...engines].reverse()) {
        const result = await trial(server, profile, engine, model, threads, round);
        byEngine.get(engine).push(result);
        trials.push(result);
        if (flags.out)
          writeFileSync(flags.out, JSON.stringify({ machine: os.cpus()[0]?.model, runs, trials }, null, 1));
      }
    }
    report(model, threads, byEngine);
  }
}

for (const model of list(flags.models)) {
  if (!existsSync(path.join(flags['models-folder'], `${model}.gguf`)))
    writeModel(flags['models-folder'], model);
}
const server = createStaticServer({
  root: inRoot('tests/bench'),
  extraRoots: {
    '/e/': inRoot('tests/bench/engines'),
    '/dist/': inRoot('dist'),
    '/npm/': inRoot('node_modules'),
    '/models/': flags['models-folder'],
  },
  headers: { 'Content-Security-Policy': undefined }, // wllama's workers are made from strings
});
const profile = mkdtempSync(path.join(os.tmpdir(), 'layerstream-bench-'));
try {
  const { url } = await server.listen(0);
  for (const model of list(flags.models)) await compare(url, profile, model);
} finally {
  await server.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

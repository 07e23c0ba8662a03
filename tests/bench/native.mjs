// SPDX-License-Identifier: MIT
// llama.cpp on this machine's processor (node-llama-cpp, its own build for linux-x64), our native program, and our package in
// Chromium, on the same files: each round runs every one once, in turned order, each trial in a fresh process.
//   npm run bench:native -- [--engines llama.cpp,native,wasm] [--models smol135m-Q4_K,...] [--threads 1,2] [--runs 128:64,512:64]
//                           [--rounds 5] [--wait 30] [--ctx 1024] [--out FILE.json] [--models-folder DIR]
// Needs what `npm run build` makes. Prints a table of medians and ratios to the first engine; --out has every trial.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createStaticServer } from '../../scripts/lib/static-server.mjs';
import { inRoot } from '../../scripts/lib/paths.mjs';
import { withPage } from './lib/browser.mjs';
import { calm, processorTime } from './lib/processes.mjs';
import { median, spread } from './lib/statistics.mjs';
import { writeModel } from './lib/synthetic-model.mjs';
import { decodeRate, pageTrial, parseRuns, prefillRate, promptIds } from './lib/trials.mjs';

const { values: flags } = parseArgs({
  options: {
    engines: { type: 'string', default: 'llama.cpp,native,wasm' },
    models: { type: 'string', default: 'smol135m-Q4_K,smol135m-Q8_0,llama1b-Q4_K,llama1b-Q8_0,llama1b-Q4_0' },
    threads: { type: 'string', default: '1,2' },
    runs: { type: 'string', default: '128:64,512:64' },
    rounds: { type: 'string', default: '5' },
    wait: { type: 'string', default: '30' },
    ctx: { type: 'string', default: '1024' },
    out: { type: 'string' },
    'models-folder': { type: 'string', default: path.join(os.tmpdir(), 'layerstream-bench-models') },
  },
});

const list = (text) => text.split(',');
const engines = list(flags.engines);
const runs = parseRuns(flags.runs);
const ctx = Number(flags.ctx);
const modelFile = (model) => path.join(flags['models-folder'], `${model}.gguf`);

const inProcess = (command, args) =>
  JSON.parse(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));

/** Each gives { load, runs: [{ prompt, n, wall: { ttftMs, decodeMs } }] }. */
const trialOf = {
  'llama.cpp': ({ model, threads, round }) => {
    const asked = [[32, 8], ...runs].map(([count, n]) => ({ prompt: promptIds(count, 17 + round), n }));
    const call = JSON.stringify({ model: modelFile(model), threads, ctx, runs: asked });
    const { load, runs: measured } = inProcess(process.execPath, [
      inRoot('tests/bench/native/llama.mjs'),
      call,
    ]);
    return { load, runs: runs.map(([prompt, n], i) => ({ prompt, n, wall: measured[i + 1] })) };
  },

  native: ({ model, threads }) => {
    const program = inRoot('build/native-release/engine/layerstream');
    return {
      runs: runs.map(([prompt, n]) => {
        const counts = ['-p', prompt, '-n', n - 1, '--ctx', ctx, '--threads', threads].map(String);
        const rates = inProcess(program, ['bench', modelFile(model), ...counts, '--json']);
        const ttftMs = (prompt / rates.prefill_tokens_per_s) * 1000;
        return { prompt, n, wall: { ttftMs, decodeMs: ((n - 1) / rates.decode_tokens_per_s) * 1000 } };
      }),
    };
  },

  wasm: ({ model, threads, round, server, profile }) =>
    withPage(profile, `${server}e/layerstream/`, async (page) => {
      const url = `/models/${model}.gguf`;
      await page.evaluate((call) => window.bench.download(call), { url });
      return pageTrial(page, { url, threads, ctx, params: {}, runs, salt: 17 + round });
    }),
};

async function measure(engine, about) {
  const busyBefore = await calm(Number(flags.wait));
  const before = processorTime();
  const result = await trialOf[engine](about);
  const after = processorTime();
  const { model, threads, round } = about;
  // With as many threads as asked for, and nothing else running, this is threads / processors.
  const busy = (after.busy - before.busy) / (after.all - before.all);
  return { engine, model, threads, round, busyBefore, busy, ...result };
}

function report(model, threads, trials) {
  const of = (engine, rate, i) =>
    trials.filter((one) => one.engine === engine).map((one) => rate(one.runs[i]));
  console.log(`\n${model}, ${threads} thread(s)`);
  for (const [i, [prompt, n]] of runs.entries()) {
    for (const [name, rate] of [
      [`prefill ${prompt}`, prefillRate],
      [`decode ${n} after ${prompt}`, decodeRate],
    ]) {
      const base = median(of(engines[0], rate, i));
      const columns = engines.map((engine, k) => {
        const rates = of(engine, rate, i);
        const ratio = k === 0 ? '' : ` = x${(median(rates) / base).toFixed(2)}`;
        return `${engine} ${spread(rates)}${ratio}`.padEnd(36);
      });
      console.log(`  ${name.padEnd(22)} ${columns.join(' ')}`);
    }
  }
  const busy = trials.map((one) => one.busyBefore);
  console.log(
    `  tok/s: median (least-most); other work before the trials: at most ${Math.round(100 * Math.max(...busy))} %`,
  );
}

if (engines.includes('llama.cpp') && !existsSync(inRoot('tests/bench/native/node_modules'))) {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('llama.cpp is built in for linux-x64 only');
  execFileSync('npm', ['ci'], { cwd: inRoot('tests/bench/native'), stdio: 'inherit' });
}
for (const model of list(flags.models)) {
  if (!existsSync(modelFile(model))) writeModel(flags['models-folder'], model);
}
const server = createStaticServer({
  root: inRoot('tests/bench'),
  extraRoots: {
    '/e/': inRoot('tests/bench/engines'),
    '/dist/': inRoot('dist'),
    '/models/': flags['models-folder'],
  },
});
const profile = mkdtempSync(path.join(os.tmpdir(), 'layerstream-bench-'));
const all = [];
try {
  const { url } = await server.listen(0);
  for (const model of list(flags.models)) {
    for (const threads of list(flags.threads).map(Number)) {
      const trials = [];
      for (let round = 0; round < Number(flags.rounds); ++round) {
        for (const engine of round % 2 === 0 ? engines : [...engines].reverse()) {
          trials.push(await measure(engine, { model, threads, round, server: url, profile }));
        }
      }
      all.push(...trials);
      report(model, threads, trials);
      if (flags.out)
        writeFileSync(
          flags.out,
          JSON.stringify({ machine: os.cpus()[0]?.model, runs, trials: all }, null, 1),
        );
    }
  }
} finally {
  await server.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

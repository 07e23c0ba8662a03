// SPDX-License-Identifier: MIT
// Streaming: how speed follows memory, what an 8B model needs, and how soon the first answer comes.
//   npm run bench:stream -- [--lines raw,sweep,large,plain,download] [--model llama1b-Q4_K] [--large llama8b-Q4_K] [--threads 2]
//                           [--steps 6] [--tokens 24] [--sweep 60] [--rate 30] [--wait 20] [--params JSON] [--out FILE.json]
//                           [--models-folder DIR]
// `large` is the 8B line on an isolated page, `plain` on one that is not. Models are generated when they are not there (the large one: 4.9 GB, and as much again in the browser's profile).
// Prints tables; --out has everything as JSON. The page cache is warm: the disk itself is not measured.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createStaticServer } from '../../scripts/lib/static-server.mjs';
import { inRoot } from '../../scripts/lib/paths.mjs';
import { withPage } from './lib/browser.mjs';
import { calm, rendererMemory } from './lib/processes.mjs';
import { writeModel } from './lib/synthetic-model.mjs';
import { throttled } from './lib/throttled.mjs';

const { values: flags } = parseArgs({
  options: {
    lines: { type: 'string', default: 'raw,sweep,large,plain,download' },
    model: { type: 'string', default: 'llama1b-Q4_K' },
    large: { type: 'string', default: 'llama8b-Q4_K' },
    threads: { type: 'string', default: '2' },
    steps: { type: 'string', default: '6' },
    tokens: { type: 'string', default: '24' },
    sweep: { type: 'string', default: '60' }, // seconds that the 8B line's prompt may take
    rate: { type: 'string', default: '30' }, // MB/s of the throttled server
    wait: { type: 'string', default: '20' },
    params: { type: 'string', default: '{}' }, // of loadModel, for the large line
    out: { type: 'string' },
    'models-folder': { type: 'string', default: path.join(os.tmpdir(), 'layerstream-bench-models') },
  },
});

const MIB = 2 ** 20;
const folder = flags['models-folder'];
const threads = Number(flags.threads);
const tokens = Number(flags.tokens);
const report = { machine: os.cpus()[0]?.model, threads, lines: {} };
const mib = (bytes) => Math.round(bytes / MIB);
const gbs = (bytes) => (bytes / 1e9).toFixed(2);
const prompt = (count) => Array.from({ length: count }, (_, i) => 100 + ((i * 7919) % 150));
const lines = new Set(flags.lines.split(','));

function modelFile(name) {
  const file = path.join(folder, `${name}.gguf`);
  return existsSync(file) ? file : writeModel(folder, name);
}

function keep(line, result) {
  report.lines[line] = result;
  if (flags.out) writeFileSync(flags.out, JSON.stringify(report, null, 1));
}

/** `call(page, method, argument)` in a fresh browser on the profile. */
function inPage(url, use) {
  return withPage(profile, `${url}e/layerstream/`, (page, root) =>
    use((method, argument) => page.evaluate(([m, a]) => window.bench[m](a), [method, argument]), root),
  );
}

async function store(url, name) {
  modelFile(name);
  await inPage(url, (call) => call('download', { url: `/models/${name}.gguf` }));
}

/** Decode rate of a loaded model; the first answer brings what is pinned. */
async function decode(call) {
  await call('generate', { prompt: prompt(4), n: 3 });
  const { wall, own } = await call('generate', { prompt: prompt(5), n: tokens });
  const perSecond = (tokens - 1) / (wall.decodeMs / 1000);
  return { tokensPerSecond: perSecond, readBytesPerSecond: (own.bytesRead / (tokens + 1)) * perSecond };
}

async function rawLine(url) {
  const { bytesPerSecond } = await inPage(url, (call) =>
    call('rawRead', { bytes: 512 * MIB, blockBytes: 16 * MIB, seconds: 2 }),
  );
  keep('raw', { bytesPerSecond });
  console.log(
    `raw: a synchronous handle reads ${gbs(bytesPerSecond)} GB/s in 16 MiB blocks, page cache warm\n`,
  );
}

async function sweepLine(url) {
  const name = flags.model;
  await store(url, name);
  const at = { url: `/models/${name}.gguf` };
  const plan = (memoryBudget) =>
    inPage(url, (call) =>
      call('plan', { ...at, options: { memoryBudget, contextLength: 512, threads, probeMs: 1000 } }),
    );
  const [least, all] = [await plan('min'), await plan(1e12)];
  const span = all.memory.totalBytes - least.memory.totalBytes;
  const steps = Number(flags.steps);
  const budgets = Array.from({ length: steps }, (_, i) =>
    i === 0
      ? 'min'
      : i + 1 === steps
        ? all.memory.totalBytes
        : least.memory.totalBytes + (span * i) / (steps - 1),
  );
  const rows = [];
  const run = async (memoryBudget, count) => {
    await calm(Number(flags.wait));
    return inPage(url, async (call) => {
      const params = { memoryBudget, engineBuild: count > 1 ? undefined : 'threads-relaxed' };
      const { memory } = await call('load', { ...at, threads: count, ctx: 512, params });
      return {
        memoryBudget,
        threads: count,
        plannedBytes: memory.plannedBytes,
        wasmBytes: memory.wasmBytes,
        ...(await decode(call)),
      };
    });
  };
  for (const budget of budgets) rows.push(await run(budget === 'min' ? budget : Math.floor(budget), threads));
  const resident = rows.at(-1);
  const oneThread = await run(resident.memoryBudget, 1);
  keep('sweep', {
    model: name,
    rows,
    residentOneThread: oneThread,
    estimates: { least: least.estimate, all: all.estimate },
  });
  console.log(`${name}, context 512, ${threads} thread(s): decoding by memory`);
  console.log('  wasm MiB   tok/s   of resident   read GB/s');
  for (const row of rows) {
    const share = Math.round((100 * row.tokensPerSecond) / resident.tokensPerSecond);
    const bar = '#'.repeat(Math.round(share / 4));
    console.log(
      `  ${String(mib(row.wasmBytes)).padStart(8)} ${row.tokensPerSecond.toFixed(2).padStart(7)} ${`${share}%`.padStart(13)} ` +
        `${gbs(row.readBytesPerSecond).padStart(11)}  ${bar}`,
    );
  }
  const { tokensPerSecond } = oneThread;
  console.log(
    `  resident, one thread: ${tokensPerSecond.toFixed(2)} tok/s; all streamed is ${(rows[0].tokensPerSecond / tokensPerSecond).toFixed(2)} of it\n`,
  );
}

async function largeLine(url, isolated) {
  const name = flags.large;
  await store(url, name);
  await calm(Number(flags.wait));
  const result = await inPage(url, async (call, root) => {
    const empty = rendererMemory(root);
    const params = { memoryBudget: 200 * MIB, ...JSON.parse(flags.params) };
    await call('load', { url: `/models/${name}.gguf`, threads: isolated ? threads : 1, ctx: 512, params });
    const { memory, wall, own } = await call('generate', { prompt: prompt(4), n: 4 });
    // All 512 tokens go through each block together, so the first blocks take the memory that all take.
    const sweep = await call('sweep', { prompt: prompt(512), limitMs: Number(flags.sweep) * 1000 });
    const end = rendererMemory(root);
    const share = sweep.done ? 1 : sweep.block / sweep.blockCount;
    return {
      model: name,
      fileBytes: statSync(modelFile(name)).size,
      isolated,
      plannedBytes: memory.plannedBytes,
      wasmBytes: memory.wasmBytes,
      rendererBytes: end.pss - empty.pss,
      peakRendererBytes: end.peak - empty.peak,
      sweep: { ...sweep, estimatedSeconds: sweep.seconds / share },
      tokensPerSecond: 3 / (wall.decodeMs / 1000),
      bytesPerToken: own.bytesRead / 4,
    };
  });
  keep(isolated ? 'large' : 'largeNotIsolated', result);
  console.log(
    `${name} (${(result.fileBytes / 1e9).toFixed(1)} GB), context 512, budget 200 MiB, ${isolated ? `isolated, ${threads} threads` : 'not isolated'}: ` +
      `wasm ${mib(result.wasmBytes)} MiB, renderer +${mib(result.rendererBytes)} MiB (PSS; peak RSS +${mib(result.peakRendererBytes)}), ` +
      `512 tokens in one sweep of about ${result.sweep.estimatedSeconds.toFixed(0)} s, ${result.tokensPerSecond.toFixed(2)} tok/s\n`,
  );
}

async function downloadLine(url) {
  const name = flags.model;
  const bytes = statSync(modelFile(name)).size;
  const seconds = bytes / (Number(flags.rate) * 1e6);
  const rows = [];
  for (const count of [64, 600]) {
    const row = await inPage(url, async (call) => {
      await call('clear');
      const options = { threads, contextLength: 1024 };
      const marks = await call('firstToken', { url: `/slow/${name}.gguf`, prompt: prompt(count), options });
      await call('unload');
      await call('clear');
      return { promptTokens: count, ...marks };
    });
    rows.push({ ...row, ratio: (row.firstTokenMs - (row.stepMs ?? 0)) / 1000 / seconds });
  }
  keep('download', {
    model: name,
    bytes,
    bytesPerSecond: Number(flags.rate) * 1e6,
    transferSeconds: seconds,
    rows,
  });
  console.log(
    `${name} from a server of ${flags.rate} MB/s, which needs ${seconds.toFixed(1)} s for it: first token after`,
  );
  for (const { promptTokens, firstTokenMs, ratio } of rows)
    console.log(
      `  ${promptTokens} prompt tokens: ${(firstTokenMs / 1000).toFixed(1)} s (${ratio.toFixed(2)} of the transfer, less one step)`,
    );
}

const slow = throttled('/slow/', folder, Number(flags.rate) * 1e6);
const serverWith = (headers) =>
  createStaticServer({
    root: inRoot('tests/bench'),
    extraRoots: { '/e/': inRoot('tests/bench/engines'), '/dist/': inRoot('dist'), '/models/': folder },
    headers,
    intercept: slow,
  });
const isolated = serverWith({});
const plain = serverWith({
  'Cross-Origin-Opener-Policy': undefined,
  'Cross-Origin-Embedder-Policy': undefined,
});
const profile = mkdtempSync(path.join(os.tmpdir(), 'layerstream-bench-'));
try {
  const [{ url }, other] = [await isolated.listen(0), await plain.listen(0)];
  if (lines.has('raw')) await rawLine(url);
  if (lines.has('sweep')) await sweepLine(url);
  if (lines.has('large')) await largeLine(url, true);
  if (lines.has('plain')) await largeLine(other.url, false);
  if (lines.has('download')) await downloadLine(url);
} finally {
  await isolated.close();
  await plain.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

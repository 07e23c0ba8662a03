// SPDX-License-Identifier: MIT
// bench_kernels natively and, as wasm, in a worker of Chromium: a table per build, JSON with --out.
//   npm run bench:kernels -- [--builds native,simd,relaxed] [--only TYPE,TYPE] [--seconds 0.2] [--rows 2048] [--length 2048]
//                            [--dot main|other] [--out FILE.json]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createStaticServer } from '../../scripts/lib/static-server.mjs';
import { buildPreset } from '../../scripts/lib/build-cmake.mjs';
import { buildDir, inRoot } from '../../scripts/lib/paths.mjs';
import { setUp } from '../../scripts/setup.mjs';
import { withPage } from './lib/browser.mjs';

const { values: flags } = parseArgs({
  options: {
    builds: { type: 'string', default: 'native,simd,relaxed' },
    only: { type: 'string' },
    seconds: { type: 'string', default: '0.2' },
    rows: { type: 'string', default: '2048' },
    length: { type: 'string', default: '2048' },
    dot: { type: 'string' }, // the faster one
    out: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
  },
});

const PRESETS = { native: 'native-bench', simd: 'wasm-bench-simd', relaxed: 'wasm-bench-relaxed' };
const programArguments = ['seconds', 'rows', 'length', 'only', 'dot'].flatMap((name) =>
  flags[name] === undefined ? [] : [`--${name}`, flags[name]],
);
const programFolder = (build) => path.join(buildDir, PRESETS[build], 'tests/bench');

function runNative() {
  const program = path.join(programFolder('native'), 'bench_kernels');
  return execFileSync(program, programArguments, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

async function runInChromium(build) {
  const server = createStaticServer({
    root: inRoot('tests/bench/engines/kernels'),
    extraRoots: { '/wasm/': programFolder(build) },
  });
  const profile = mkdtempSync(path.join(os.tmpdir(), 'layerstream-bench-'));
  try {
    const { url } = await server.listen(0);
    return await withPage(profile, url, (page) =>
      page.evaluate((given) => window.bench.run(given), programArguments),
    );
  } finally {
    await server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function printTable(build, result) {
  console.log(
    `\n${build} (${result.dot} dot): memory read ${result.memory_read_gb_s} GB/s, integer dot ${result.peak_dot_gmac_s} G multiply-adds/s`,
  );
  const types = [...new Set(result.points.map(({ type }) => type))];
  const columns = [...new Set(result.points.map((point) => point.columns))];
  console.log(
    `type      GB/s  of Q8_0   best G multiply-adds/s at ${columns.map((n) => `${n}`.padStart(5)).join(' ')} columns`,
  );
  for (const type of types) {
    const points = result.points.filter((point) => point.type === type);
    const rates = points.map((point) => point.best_gmac_s.toFixed(1).padStart(5)).join(' ');
    const [one] = points;
    console.log(
      `${type.padEnd(8)} ${one.weight_gb_s.toFixed(2).padStart(5)} ${one.to_q8_0.toFixed(2).padStart(8)} ${''.padEnd(27)}${rates}`,
    );
  }
}

const builds = flags.builds.split(',');
if (!flags['no-build']) {
  const emscripten = await setUp();
  for (const build of builds) await buildPreset(PRESETS[build], emscripten);
}
const results = {};
for (const build of builds) {
  results[build] = JSON.parse(build === 'native' ? runNative() : await runInChromium(build));
  printTable(build, results[build]);
}
if (flags.out)
  writeFileSync(flags.out, JSON.stringify({ machine: os.cpus()[0]?.model, ...results }, null, 1));

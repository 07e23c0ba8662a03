// SPDX-License-Identifier: MIT
// The test suites of `npm test`, in order. `needs` are parts of scripts/build.mjs; `run` shows the suite's own
// output and returns { passed: number, failed: [name], skipped: [name] }.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildDir, inRoot } from './paths.mjs';
import { collectCtest } from './results-ctest.mjs';
import { collectJest } from './results-jest.mjs';
import { run } from './run.mjs';
import { findChromium } from './setup-system.mjs';
import { MODULES_PRESET } from './wasm-modules.mjs';

const RESULTS = path.join(buildDir, 'test-results');
const LIMIT_MS = 45 * 60_000; // a suite that hangs is a failure, not a wait for ever

const show = { show: true, allowFailure: true, timeoutMs: LIMIT_MS };

/** A checker of ours that leaves { passed, failed, skipped }. */
const checker = (name) => async () => {
  const file = path.join(RESULTS, `${name}.json`);
  const { code } = await run(process.execPath, [inRoot(`scripts/check-${name}.mjs`), '--json', file], show);
  if (!existsSync(file))
    return { passed: 0, failed: [`the checker crashed (exit status ${code})`], skipped: [] };
  return JSON.parse(readFileSync(file, 'utf8'));
};

/** Generated files are what their generators write. */
async function generated() {
  const total = { passed: 0, failed: [], skipped: [] };
  const scripts = [
    'unicode/generate',
    'unicode/pretokenizer-cases',
    'unicode/normalization-cases',
    'quant-tables/generate',
  ];
  for (const script of scripts.map((name) => `scripts/${name}.mjs`)) {
    const { code } = await run(process.execPath, [inRoot(script), '--check'], show);
    if (code === 0) total.passed += 1;
    else total.failed.push(`${script} --check ended with status ${code}`);
  }
  return total;
}

const ctest = (preset, name) => async (emscripten) => {
  const folder = path.join(RESULTS, name);
  const junit = path.join(RESULTS, `${name}-ctest.xml`);
  mkdirSync(folder, { recursive: true });
  const args = ['--test-dir', path.join(buildDir, preset), '--output-on-failure', '--output-junit', junit];
  const env = name === 'wasm' ? emscripten.env : process.env;
  const jobs = ['--parallel', String(os.availableParallelism())];
  const { code } = await run('ctest', [...args, ...jobs, '--no-tests=error'], { ...show, env });
  return collectCtest({ folder, junit, code });
};

/** Scripts that run the command-line program over models, and real chat templates, and leave [{ name, outcome: ok | FAIL | skip }]. */
async function golden() {
  const total = { passed: 0, failed: [], skipped: [] };
  for (const check of ['golden', 'bits', 'greedy', 'vocab', 'templates']) {
    const file = path.join(RESULTS, `${check}.json`);
    const script = inRoot(`tests/golden/check-${check}.mjs`);
    const { code } = await run(process.execPath, [script, '--json', file], show);
    const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
    const names = (outcome) => results.filter((r) => r.outcome === outcome).map((r) => `${check}: ${r.name}`);
    total.passed += names('ok').length;
    total.failed.push(...names('FAIL'));
    total.skipped.push(...names('skip'));
    if (code !== 0 && names('FAIL').length === 0) total.failed.push(`${check}: ended with status ${code}`);
  }
  return total;
}

const jest =
  (config, name, extra = []) =>
  async () => {
    const file = path.join(RESULTS, `${name}.json`);
    const program = ['--experimental-vm-modules', '--no-warnings', inRoot('node_modules/jest/bin/jest.js')];
    const args = ['--config', inRoot(config), '--json', '--outputFile', file, ...extra];
    const env = { ...process.env, CHROMIUM_PATH: findChromium() ?? '' };
    // Jest prints its JSON to stdout as well as the file; the readable report is on stderr.
    const { code } = await run(process.execPath, [...program, ...args], { ...show, show: 'stderr', env });
    return collectJest({ file, code });
  };

const WEB_NEEDS = [MODULES_PRESET, 'package', 'tests'];

export const SUITES = [
  { name: 'rooms', needs: [], run: checker('rooms') },
  { name: 'generated', needs: [], run: generated },
  { name: 'native', needs: ['native-debug'], run: ctest('native-debug', 'native') },
  { name: 'wasm', needs: ['wasm-tests'], run: ctest('wasm-tests', 'wasm') },
  { name: 'golden', needs: ['native-release', ...WEB_NEEDS], run: golden },
  { name: 'jest', needs: ['native-release', ...WEB_NEEDS], run: jest('tests/jest/jest.config.mjs', 'jest') },
  { name: 'opcodes', needs: [MODULES_PRESET], run: checker('opcodes') },
  {
    name: 'e2e',
    needs: [...WEB_NEEDS, 'demo'],
    run: jest('tests/e2e/jest.config.mjs', 'e2e', ['--runInBand']),
  },
  {
    name: 'package',
    needs: [...WEB_NEEDS, 'package-apps'],
    run: jest('tests/package/jest.config.mjs', 'package', ['--runInBand']),
  },
];

export function clearResults() {
  rmSync(RESULTS, { recursive: true, force: true });
  mkdirSync(RESULTS, { recursive: true });
}

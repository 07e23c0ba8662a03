// SPDX-License-Identifier: MIT
// The TypeScript side: dist/ (the package: compiled web/src and the wasm modules), build/demo (the page) and
// build/tests-js (the compiled Jest and browser tests). Each is skipped when its inputs are unchanged.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { binDir, buildDir, distDir, inRoot } from './paths.mjs';
import { Failure } from './failure.mjs';
import { step } from './log.mjs';
import { run } from './run.mjs';
import { fingerprint, isFresh, listFiles, writeStamp } from './stamp.mjs';
import { modulePath, WASM_MODULES } from './wasm-modules.mjs';

const tool = (name) => path.join(binDir, name);

function requireFile(file) {
  if (!existsSync(file))
    throw new Failure(`${path.relative(inRoot(), file)} is missing; is this a complete checkout?`);
}

/** What of the wasm modules has been built and belongs to the package: [file, ...]. */
const moduleFiles = () =>
  WASM_MODULES.flatMap((module) =>
    ['.d.ts', '.mjs', '.wasm'].map((ending) => modulePath(module) + ending),
  ).filter(existsSync);

const webSources = () => [
  ...listFiles(inRoot('web')),
  inRoot('package-lock.json'),
  inRoot('package.json'),
  inRoot('scripts/lib/build-web.mjs'),
];

/** Runs `work` when the inputs changed or the output is gone. */
async function ifChanged(name, inputs, output, work) {
  const stamp = fingerprint(inputs);
  if (isFresh(name, stamp) && existsSync(output)) return;
  await step(`build ${name}`, work);
  writeStamp(name, stamp);
}

/** Puts a module and what it imports into the module's own file. */
async function bundleInPlace(name, options = {}) {
  const { build } = await import('esbuild');
  const file = path.join(distDir, name);
  const common = { bundle: true, allowOverwrite: true, target: 'es2022', logLevel: 'warning' };
  await build({ entryPoints: [file], outfile: file, format: 'esm', ...common, ...options });
}

/** What a file of dist imports at once, also by way of others: paths. */
function importsOf(file, found = new Set()) {
  for (const [, name] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\b[^;]*?from ["'](\.[^"']+)["']/gm,
  )) {
    const imported = path.resolve(path.dirname(file), name);
    if (!found.has(imported)) importsOf(imported, found.add(imported));
  }
  return found;
}

/** Names what is imported by imports first, so that everything is asked for in one round trip. */
function nameAllImports(file) {
  const own = readFileSync(file, 'utf8');
  const names = [...importsOf(file)].map((name) => path.relative(path.dirname(file), name));
  const lines = names.map((name) => `import "${name.startsWith('.') ? name : `./${name}`}";\n`);
  writeFileSync(file, lines.join('') + own);
}

/** A worker that imports forty files, four deep, starts four round trips later: each becomes one file, besides what they
 *  share and what is only loaded when it is needed. */
async function bundleWorkers() {
  const { build } = await import('esbuild');
  const workers = ['engine', 'storage'].map((name) => path.join(distDir, 'worker', `${name}-worker.js`));
  await build({
    entryPoints: workers,
    outdir: path.join(distDir, 'worker'),
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    // What the page has loaded already stays its own file. All of dist/ is one folder deep, so the names hold.
    external: ['../wasm/*', '../errors.js', '../async.js', '../protocol/*'],
    chunkNames: '[name]-[hash]',
    allowOverwrite: true,
    logLevel: 'warning',
  });
  workers.forEach(nameAllImports);
}

/** What tsc cannot do: the template parser becomes part of the package, the service worker a classic script, a worker one file. */
async function bundleParts() {
  const licence = readFileSync(inRoot('node_modules/@huggingface/jinja/LICENSE'), 'utf8').trim();
  const banner = { js: `/*! @huggingface/jinja\n${licence}\n*/` };
  await bundleInPlace('chat/jinja.js', { minify: true, banner });
  await bundleWorkers();
  await bundleInPlace('isolation-service-worker.js', { format: 'iife' });
  rmSync(path.join(distDir, 'isolation-service-worker.d.ts'));
}

/** Emscripten's JavaScript loses what it declares and never uses, which bundlers leave in a function of that size. */
async function placeModuleFile(file, target) {
  if (!file.endsWith('.mjs')) {
    cpSync(file, target);
    return;
  }
  const { minify } = await import('terser');
  // Keys are quoted as Emscripten has them: webpack would read `name: "em-pthread"` as the name of one chunk for all four modules.
  const format = { ecma: 2022, quote_keys: true };
  const options = { module: true, compress: { passes: 3, ecma: 2022 }, format };
  const { code } = await minify(readFileSync(file, 'utf8'), options);
  writeFileSync(target, code);
}

export async function buildPackage() {
  requireFile(inRoot('web/tsconfig.json'));
  await ifChanged(
    'package',
    [...webSources(), ...moduleFiles()],
    path.join(distDir, 'index.js'),
    async (note) => {
      rmSync(distDir, { recursive: true, force: true });
      await run(tool('tsc'), ['-p', 'web/tsconfig.json'], { note });
      await bundleParts();
      mkdirSync(path.join(distDir, 'wasm'), { recursive: true });
      for (const file of moduleFiles())
        await placeModuleFile(file, path.join(distDir, 'wasm', path.basename(file)));
    },
  );
}

export async function buildDemo() {
  requireFile(inRoot('demo/index.html'));
  const models = inRoot('demo/models');
  const sources = listFiles(inRoot('demo'), { skip: (file) => file === models });
  const output = path.join(buildDir, 'demo');
  await ifChanged('demo', [...sources, ...webSources(), ...moduleFiles()], output, (note) =>
    run(tool('vite'), ['build', 'demo', '--outDir', output, '--emptyOutDir', '--logLevel', 'warn'], { note }),
  );
}

export async function buildTests() {
  requireFile(inRoot('tests/tsconfig.json'));
  const sources = listFiles(inRoot('tests')).filter((file) => /\.(ts|mts|json|mjs)$/.test(file));
  const output = path.join(buildDir, 'tests-js');
  await ifChanged('tests', [...sources, ...webSources(), ...moduleFiles()], output, async (note) => {
    rmSync(output, { recursive: true, force: true });
    await run(tool('tsc'), ['-p', 'tests/tsconfig.json'], { note });
  });
}

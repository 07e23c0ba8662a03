// SPDX-License-Identifier: MIT
// The package as its users get it: packs the tarball, unpacks it into build/package-apps/node_modules and builds the
// fixture apps of tests/package/apps/ on it, each with another bundler. tests/package/ runs them.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildDir, inRoot } from './paths.mjs';
import { Failure } from './failure.mjs';
import { step } from './log.mjs';
import { run } from './run.mjs';
import { fingerprint, isFresh, listFiles, stampFile, writeStamp } from './stamp.mjs';

export const APPS_DIR = path.join(buildDir, 'package-apps');
const SOURCES = inRoot('tests/package/apps');
const PACKAGE = path.join(APPS_DIR, 'node_modules/layerstream');

/** Packs and unpacks; returns the tarball. */
async function installTarball() {
  await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', APPS_DIR]);
  const tarball = readdirSync(APPS_DIR).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Failure('npm pack left no tarball');
  mkdirSync(PACKAGE, { recursive: true });
  await run('tar', ['-xzf', path.join(APPS_DIR, tarball), '-C', PACKAGE, '--strip-components=1']);
}

const inApps = (...parts) => path.join(APPS_DIR, ...parts);
const output = (name) => inApps('dist', name);

async function buildVite() {
  const { build } = await import('vite');
  await build({ root: APPS_DIR, logLevel: 'warn', build: { outDir: output('vite') } });
}

async function buildWebpack() {
  const { default: webpack } = await import('webpack');
  const performance = { hints: false }; // it counts all four engines; a page loads one
  const config = { mode: 'production', context: APPS_DIR, entry: './main.js', performance };
  const stats = await new Promise((resolve, reject) =>
    webpack({ ...config, output: { path: output('webpack') } }, (error, result) =>
      error ? reject(error) : resolve(result),
    ),
  );
  if (stats.hasErrors() || stats.hasWarnings()) throw new Failure(stats.toString('errors-warnings'));
  cpSync(inApps('index.html'), path.join(output('webpack'), 'index.html'));
}

const ESBUILD = { bundle: true, splitting: true, format: 'esm', minify: true, logLevel: 'warning' };

async function buildEsbuild() {
  const { build } = await import('esbuild');
  await build({ entryPoints: { main: inApps('copied.js') }, outdir: output('esbuild'), ...ESBUILD });
  cpSync(inApps('index.html'), path.join(output('esbuild'), 'index.html'));
  cpSync(path.join(PACKAGE, 'dist'), path.join(output('esbuild'), 'layerstream'), { recursive: true });
}

/** What a page downloads, piece by piece; size-limit weighs it. */
async function buildForSizes() {
  const { build } = await import('esbuild');
  const worker = (name) => path.join(PACKAGE, 'dist/worker', `${name}.js`);
  const entryPoints = {
    'load-model': inApps('load-model.js'),
    'engine-worker': worker('engine-worker'),
    'storage-worker': worker('storage-worker'),
  };
  await build({ entryPoints, outdir: output('size'), ...ESBUILD });
}

function copyPlain() {
  const folder = output('plain');
  for (const file of ['index.html', 'run.js']) cpSync(inApps(file), path.join(folder, file));
  cpSync(inApps('plain.js'), path.join(folder, 'main.js'));
  cpSync(path.join(PACKAGE, 'dist'), path.join(folder, 'layerstream'), { recursive: true });
  const worker = 'isolation-service-worker.js';
  cpSync(path.join(PACKAGE, 'dist', worker), path.join(folder, worker));
}

/** The README's first code, as it stands, in a page that finds the package by its name. */
function copyReadme() {
  const folder = output('readme');
  mkdirSync(folder, { recursive: true });
  const [, code] =
    /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(path.join(PACKAGE, 'README.md'), 'utf8')) ?? [];
  if (code === undefined) throw new Failure('README.md has no code to run');
  writeFileSync(path.join(folder, 'main.js'), `${code}document.body.setAttribute('data-done', '');\n`);
  const map = '<script type="importmap">{ "imports": { "layerstream": "./layerstream/index.js" } }</script>';
  const page = readFileSync(inApps('index.html'), 'utf8').replace('<script', `${map}\n    <script`);
  writeFileSync(path.join(folder, 'index.html'), page);
  symlinkSync(path.join(PACKAGE, 'dist'), path.join(folder, 'layerstream'));
}

export async function buildPackageApps() {
  const packed = ['package.json', 'package-lock.json', 'README.md', 'CHANGELOG.md'].map((name) =>
    inRoot(name),
  );
  const self = inRoot('scripts/lib/build-package-apps.mjs');
  const stamp = fingerprint([...packed, self, stampFile('package'), ...listFiles(SOURCES)]);
  if (isFresh('package-apps', stamp)) return;
  await step('build package-apps', async () => {
    rmSync(APPS_DIR, { recursive: true, force: true });
    cpSync(SOURCES, APPS_DIR, { recursive: true });
    symlinkSync(inRoot('demo/models'), inApps('models')); // for Vite's dev server
    await installTarball();
    await buildVite();
    await buildWebpack();
    await buildEsbuild();
    await buildForSizes();
    copyPlain();
    copyReadme();
  });
  writeStamp('package-apps', stamp);
}

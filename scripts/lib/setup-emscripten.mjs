// SPDX-License-Identifier: MIT
// Finds or installs Emscripten, in this order: `emcc` on PATH; an EMSDK environment variable; what an earlier
// run put into the cache; emsdk, if its repository answers within seconds; Debian's own packages in a private
// folder. Returns { version, root, env }: env is the complete environment for CMake and emcc.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { binDir, buildDir, cacheDir, findProgram, inRoot } from './paths.mjs';
import { Failure } from './failure.mjs';
import { log, step } from './log.mjs';
import { ask, run } from './run.mjs';
import { DEBIAN_EMSCRIPTEN_NEEDS, ensureSystemPackages } from './setup-system.mjs';
import { atLeast, findVersion } from './version.mjs';

export const minimumVersion = () => readFileSync(inRoot('scripts/emscripten-min-version'), 'utf8').trim();
const EMSDK_REPOSITORY = 'https://github.com/emscripten-core/emsdk.git';

function describe(root, variables = {}) {
  const env = { ...process.env, ...variables, EMSCRIPTEN_ROOT: root };
  // tsc, which `emcc --emit-tsd` calls, is one of our npm packages.
  env.PATH = [root, binDir, process.env.PATH].join(path.delimiter);
  // The first line of `emcc --version`: "emcc (Emscripten ...) 4.0.1 (...)"; a number in the brackets is not it.
  const first = ask(path.join(root, 'emcc'), ['--version'], env)?.split('\n')[0];
  const version = first ? findVersion(first.replace(/^emcc \([^)]*\)/, '')) : null;
  return version ? { version, root, env } : null;
}

const goodEnough = (found) => (found && atLeast(found.version, minimumVersion()) ? found : null);

function onPath() {
  const emcc = findProgram('emcc');
  if (!emcc) return null;
  // A wrapper script on PATH may lie elsewhere than the folder with the CMake files.
  const config = findProgram('em-config');
  const candidates = [config && ask(config, ['EMSCRIPTEN_ROOT']), path.dirname(realpathSync(emcc))];
  const root = candidates.find((folder) => folder && existsSync(toolchainFile(folder)));
  const found = root ? describe(root) : null;
  if (!goodEnough(found)) {
    log(
      `emcc on PATH is ${found?.version ?? 'unusable'}; ${minimumVersion()} or later is needed, looking further`,
    );
  }
  return goodEnough(found);
}

export const toolchainFile = (root) => path.join(root, 'cmake/Modules/Platform/Emscripten.cmake');

function inEmsdk(folder) {
  const root = folder && path.join(folder, 'upstream/emscripten');
  if (!root || !existsSync(toolchainFile(root))) return null;
  return goodEnough(describe(root, { EM_CONFIG: path.join(folder, '.emscripten') }));
}

const emsdkFolder = () => path.join(cacheDir(), 'emsdk');
const debianFolder = () => path.join(cacheDir(), 'emscripten-forky');

function fromDebianFolder() {
  const folder = debianFolder();
  if (!existsSync(path.join(folder, 'version'))) return null;
  return goodEnough(
    describe(path.join(folder, 'root/usr/share/emscripten'), { EM_CONFIG: path.join(folder, 'config.py') }),
  );
}

/** Each way returns null when it does not work here; the reason is logged. */
async function installEmsdk() {
  if (!findProgram('git')) return null;
  const folder = emsdkFolder();
  if (!existsSync(folder)) {
    const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
    const part = `${folder}.part.${process.pid}`;
    mkdirSync(path.dirname(folder), { recursive: true });
    const args = ['clone', '--quiet', '--depth', '1', EMSDK_REPOSITORY, part];
    const clone = await run('git', args, { allowFailure: true, timeoutMs: 10_000, env });
    if (clone.code !== 0) {
      log('emsdk cannot be reached; going on without it');
      await run('rm', ['-rf', part]);
      return null;
    }
    await run('mv', ['-T', part, folder], { allowFailure: true });
  }
  return step('Emscripten from emsdk', async (note) => {
    for (const verb of ['install', 'activate']) {
      const options = { note, allowFailure: true, timeoutMs: 900_000 };
      const { code } = await run(path.join(folder, 'emsdk'), [verb, 'latest'], options);
      if (code !== 0) return null;
    }
    return inEmsdk(folder);
  });
}

async function installFromDebian() {
  if (!findProgram('apt-get')) return null;
  await ensureSystemPackages(DEBIAN_EMSCRIPTEN_NEEDS);
  await step("Emscripten from Debian's packages (about 110 MB)", (note) =>
    run('bash', [inRoot('scripts/emscripten-from-debian.sh'), debianFolder()], { note }),
  );
  return fromDebianFolder();
}

function record(found) {
  const file = path.join(buildDir, 'emscripten-version.txt');
  mkdirSync(buildDir, { recursive: true });
  if (!existsSync(file) || readFileSync(file, 'utf8').trim() !== found.version) {
    writeFileSync(file, `${found.version}\n`);
  }
  return found;
}

export async function setUpEmscripten() {
  const ready = onPath() ?? inEmsdk(process.env.EMSDK) ?? fromDebianFolder() ?? inEmsdk(emsdkFolder());
  const found = ready ?? (await installEmsdk()) ?? (await installFromDebian());
  if (found) return record(found);
  throw new Failure(
    `Emscripten ${minimumVersion()} or later is needed and could not be installed here.\n` +
      'Install it (see the "Download and install" page of the Emscripten documentation), make sure that\n' +
      '`emcc --version` works in this terminal, then run this command again.',
  );
}

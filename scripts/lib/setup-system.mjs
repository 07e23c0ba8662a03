// SPDX-License-Identifier: MIT
// Programs that come from the system's packages. Only what is missing is installed, and only through apt-get;
// everywhere else the message names what is needed.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from './paths.mjs';
import { Failure } from './failure.mjs';
import { log, step } from './log.mjs';
import { ask, run } from './run.mjs';
import { atLeast, findVersion } from './version.mjs';

const programVersion = (program, minimum, args = ['--version']) => {
  const version = findVersion(ask(program, args));
  return { ok: atLeast(version, minimum), found: version };
};
const program = (name) => ({ ok: findProgram(name) !== null });
const file = (path) => ({ ok: existsSync(path) });

/** A browser: the variable's path if it is set, else the first of the names on PATH; null if there is none. */
function findBrowser(variable, names, env) {
  const chosen = env[variable];
  if (chosen) return existsSync(chosen) ? chosen : null;
  return names.map((name) => findProgram(name, env.PATH)).find(Boolean) ?? null;
}

export const findChromium = (env = process.env) =>
  findBrowser('CHROMIUM_PATH', ['chromium', 'chromium-browser', 'google-chrome'], env);

export const findFirefox = (env = process.env) =>
  findBrowser('FIREFOX_PATH', ['firefox-esr', 'firefox'], env);

const libraries = '/usr/lib';

/** WebKitGTK's driver and the browser it drives, as { driver, browser }; null unless both and a display are there. */
export function findWebKit(env = process.env) {
  const driver = findProgram('WebKitWebDriver', env.PATH);
  const display = findProgram('xvfb-run', env.PATH);
  if (driver === null || display === null || !existsSync(libraries)) return null;
  const browser = readdirSync(libraries)
    .map((folder) => path.join(libraries, folder, 'webkit2gtk-4.1/MiniBrowser'))
    .find((file) => existsSync(file));
  return browser === undefined ? null : { driver, browser };
}

// package: its Debian name; need: what to say elsewhere; check: { ok, found? }.
const REQUIREMENTS = {
  compiler: {
    package: 'g++',
    need: 'g++ 12 or later (C++23)',
    check: () => (process.env.CXX ? { ok: true } : programVersion('g++', '12', ['-dumpfullversion'])),
  },
  cmake: { package: 'cmake', need: 'CMake 3.25 or later', check: () => programVersion('cmake', '3.25') },
  ninja: { package: 'ninja-build', need: 'Ninja', check: () => program('ninja') },
  python: {
    package: 'python3',
    need: 'Python 3.10 or later',
    check: () => programVersion('python3', '3.10'),
  },
  gtest: {
    package: 'libgtest-dev',
    need: 'the GoogleTest sources in /usr/src/googletest',
    check: () => file('/usr/src/googletest/CMakeLists.txt'),
  },
  chromium: {
    package: 'chromium',
    need: 'Chromium or Chrome',
    check: () => ({ ok: findChromium() !== null }),
  },
  firefox: {
    package: 'firefox-esr',
    need: 'Firefox ESR',
    check: () => ({ ok: findFirefox() !== null }),
  },
  webkit: {
    package: 'webkit2gtk-driver',
    need: 'WebKitGTK with WebKitWebDriver and MiniBrowser',
    check: () => ({ ok: findWebKit() !== null }),
  },
  xvfb: { package: 'xvfb', need: 'xvfb-run', check: () => program('xvfb-run') },
  xauth: { package: 'xauth', need: 'xauth (for xvfb-run)', check: () => program('xauth') },
  fonts: {
    package: 'fonts-dejavu-core',
    need: 'a font for the browser tests (DejaVu)',
    check: () => file('/usr/share/fonts/truetype/dejavu'),
  },
  patchelf: { package: 'patchelf', need: 'patchelf', check: () => program('patchelf') },
  keyring: {
    package: 'debian-archive-keyring',
    need: "Debian's archive keys",
    check: () => file('/usr/share/keyrings/debian-archive-keyring.gpg'),
  },
};

export const BUILD_NEEDS = ['compiler', 'cmake', 'ninja', 'python'];
export const TEST_NEEDS = [...BUILD_NEEDS, 'gtest', 'chromium', 'fonts'];
/** Browsers beside Chromium: the tests run in those that can be had, and report the others as skipped. */
export const MORE_BROWSERS = [['firefox'], ['webkit', 'xvfb', 'xauth']];
export const DEBIAN_EMSCRIPTEN_NEEDS = ['patchelf', 'keyring', 'python'];

export const missingOf = (names) => names.filter((name) => !REQUIREMENTS[name].check().ok);

/**
 * How apt-get may be run here, as the words before it, or null.
 * The probes are parameters so that a test can play every machine.
 */
export function aptPrefix({
  uid = process.getuid?.(),
  hasApt = findProgram('apt-get') !== null,
  canSudo = () => findProgram('sudo') !== null && ask('sudo', ['-n', 'true']) !== null,
} = {}) {
  if (!hasApt) return null;
  if (uid === 0) return ['env'];
  return canSudo() ? ['sudo', '-n', 'env'] : null;
}

/** The message for a machine on which we may not install. */
export function missingMessage(names, hasApt = findProgram('apt-get') !== null) {
  const lines = names.map((name) => {
    const { need, check } = REQUIREMENTS[name];
    const { found } = check();
    return `  - ${need}${found ? ` (found ${found})` : ''}`;
  });
  const packages = names.map((name) => REQUIREMENTS[name].package).join(' ');
  const fix = hasApt
    ? `Install them with this command, then run this one again:\n\n  sudo apt-get update && sudo apt-get install --no-install-recommends ${packages}`
    : 'Install them with the package manager of this system, then run this command again.';
  return `these are missing or too old:\n${lines.join('\n')}\n${fix}`;
}

async function aptInstall(prefix, packages, note) {
  const [command, ...before] = [...prefix, 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  const apt = (...args) =>
    run(command, [...before, '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3', ...args], {
      note,
      allowFailure: true,
    });
  const install = () => apt('install', '-y', '--no-install-recommends', ...packages);
  // The package lists may be absent or stale: fetch them only if the first try fails.
  let result = await install();
  if (result.code !== 0) {
    const update = await apt('update');
    result = await install();
    result.output = `${update.output}\n${result.output}`;
  }
  if (result.code === 0) return;
  const tail = result.output.trimEnd().split('\n').slice(-40).join('\n');
  throw new Failure(
    `apt-get could not install ${packages.join(' ')}:\n${tail}\n` +
      `Look at it with: sudo apt-get update && sudo apt-get install ${packages.join(' ')}`,
  );
}

/** Makes sure that everything in `names` is there, or throws a Failure that says what to do. */
export async function ensureSystemPackages(names) {
  const missing = missingOf(names);
  if (missing.length === 0) return;
  const prefix = aptPrefix();
  if (!prefix) throw new Failure(missingMessage(missing));
  const packages = missing.map((name) => REQUIREMENTS[name].package);
  await step(`system packages: ${packages.join(' ')}`, (note) => aptInstall(prefix, packages, note));
  const still = missingOf(missing);
  if (still.length > 0) throw new Failure(`after apt-get install, ${missingMessage(still, false)}`);
}

/** The same for something that can be done without: says so and goes on. */
export async function tryToEnsure(names) {
  try {
    await ensureSystemPackages(names);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    log(`going on without ${names.join(', ')}: ${error.message}`);
  }
}

// SPDX-License-Identifier: MIT
// Configures and builds CMake presets. Ninja decides what to compile; CMake is run only when there is no build
// folder yet, when the presets changed, or when Emscripten did (then from an empty folder).
import { existsSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildDir, inRoot } from './paths.mjs';
import { step } from './log.mjs';
import { run } from './run.mjs';
import { fingerprint, isFresh, writeStamp } from './stamp.mjs';

export const isWasm = (preset) => preset.startsWith('wasm-');

/** Emscripten builds its system libraries on first use: show which one, not the "ok" after it. */
const withoutOk = (note) => (line) => {
  if (!/^cache:INFO:\s+- ok/.test(line)) note(line.replace(/ \(this will be cached.*/, ''));
};

/** Builds one preset; `emscripten` is what set-up returned. */
export async function buildPreset(preset, emscripten) {
  const folder = path.join(buildDir, preset);
  const env = isWasm(preset) ? emscripten.env : process.env;
  const tools = isWasm(preset) ? [emscripten.root, emscripten.version] : [process.env.CXX ?? ''];
  const stamps = {
    [`${preset}.tools`]: fingerprint([], tools),
    [`${preset}.configure`]: fingerprint([inRoot('CMakePresets.json')], tools),
  };
  await step(`build ${preset}`, async (noteLine) => {
    const note = withoutOk(noteLine);
    if (!isFresh(`${preset}.tools`, stamps[`${preset}.tools`]))
      rmSync(folder, { recursive: true, force: true });
    const configured = Object.entries(stamps).every(([name, value]) => isFresh(name, value));
    if (!configured || !existsSync(path.join(folder, 'build.ninja'))) {
      await run('cmake', ['--preset', preset], { env, note });
      for (const [name, value] of Object.entries(stamps)) writeStamp(name, value);
    }
    await run('cmake', ['--build', folder, '--parallel', String(os.availableParallelism())], { env, note });
  });
}

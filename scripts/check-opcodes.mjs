// SPDX-License-Identifier: MIT
// Looks into the built wasm modules: the integer dot product that each build is made for is in the kernel of every tensor
// type, no relaxed opcode but that one is anywhere, and the files are as small as promised. (Peers have lost their SIMD
// kernels unnoticed, and newer compilers pick relaxed opcodes by themselves.)
//   node scripts/check-opcodes.mjs [--json FILE]
// Reads the modules with Binaryen's wasm-dis; functions get their names from the symbol map that the linker leaves.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { Failure } from './lib/failure.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ask, run } from './lib/run.mjs';
import { setUpEmscripten } from './lib/setup-emscripten.mjs';
import { modulePath, WASM_MODULES } from './lib/wasm-modules.mjs';

const GZIP_LIMIT = 600 * 1024;
/** Both widths: the processor decides which is the faster one (engine/kernels/dot_choice.h). */
const RELAXED_DOTS = ['i32x4.relaxed_dot_i8x16_i7x16_add_s', 'i16x8.relaxed_dot_i8x16_i7x16_s'];
const PLAIN_DOT = 'i32x4.dot_i16x8_s';
const FLOAT_TYPES = ['F32', 'F16', 'Bf16'];
/** Their one-column kernels widen signed codes in every build (decisions/0007); in panels they meet the build's own dot. */
const WIDENED_TYPES = ['Q8_0', 'Iq4Nl', 'Iq4Xs'];

/** Traits of the groups that make up the one list of tensor types. */
function typeNames() {
  const text = readFileSync(inRoot('engine/quant/registry.h'), 'utf8');
  const groups = [...text.matchAll(/using \w+Types = TypeList<([^>]+)>/g)];
  if (groups.length === 0)
    throw new Failure('engine/quant/registry.h has no list of types that this script can read');
  return groups.flatMap((group) => group[1].split(',').map((name) => name.trim()));
}

/** [{ name, opcodes: Map }] of every function. wasm-dis numbers them from 0, the symbol map after the imported ones. */
function functionsOf(wat, symbols) {
  const names = new Map(
    symbols.split('\n').map((line) => [Number(/^\d+/.exec(line)?.[0]), line.replace(/^\d+:/, '')]),
  );
  const imported = wat.match(/^ \(import .*\(func /gm)?.length ?? 0;
  return wat
    .split(/^ \(func \$/m)
    .slice(1)
    .map((text) => {
      const opcodes = new Map();
      for (const [opcode] of text.matchAll(/\b[fiv]\d+x?\d*\.[a-z0-9_]+/g))
        opcodes.set(opcode, (opcodes.get(opcode) ?? 0) + 1);
      return { name: names.get(imported + parseInt(text, 10)) ?? '', opcodes };
    });
}

async function disassemble(wasmDis, file) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'opcodes-'));
  try {
    const out = path.join(folder, 'module.wat');
    await run(wasmDis, [file, '-o', out]);
    return readFileSync(out, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Checks one module; `check(name, ok, details)` records. */
async function checkModule(wasmDis, module, check) {
  const base = modulePath(module);
  const size = gzipSync(readFileSync(`${base}.wasm`), { level: 9 }).length;
  check(`${module}: at most ${GZIP_LIMIT} bytes compressed`, size <= GZIP_LIMIT, `${size} bytes`);
  const wat = await disassemble(wasmDis, `${base}.wasm`);
  const functions = functionsOf(wat, readFileSync(`${base}.mjs.symbols`, 'utf8'));
  const wanted = module.endsWith('-relaxed') ? RELAXED_DOTS : [PLAIN_DOT];
  const relaxed = new Set(
    functions.flatMap(({ opcodes }) => [...opcodes.keys()].filter((opcode) => opcode.includes('relaxed'))),
  );
  for (const opcode of wanted) relaxed.delete(opcode);
  check(`${module}: no other relaxed opcode`, relaxed.size === 0, [...relaxed].join(', '));
  for (const type of typeNames()) {
    const opcodes = FLOAT_TYPES.includes(type)
      ? ['f32x4.mul']
      : WIDENED_TYPES.includes(type)
        ? [PLAIN_DOT]
        : wanted;
    const kernels = functions.filter(
      ({ name }) => new RegExp(`quant::${type}\\b`).test(name) && name.includes('kernels::'),
    );
    for (const opcode of opcodes) {
      const found = kernels.some((kernel) => kernel.opcodes.has(opcode));
      check(`${module}: ${type} has ${opcode}`, found, `none in its ${kernels.length} functions`);
    }
  }
  const panels = functions.filter(({ name }) => /^layerstream::kernels::PackedKernel<.*>::run\(/.test(name));
  for (const opcode of wanted) {
    const having = panels.filter((panel) => panel.opcodes.has(opcode)).length;
    // Of the relaxed builds' panels, one half has the one and one half the other.
    check(
      `${module}: panels have ${opcode}`,
      panels.length > 0 && having * wanted.length === panels.length,
      `${having} of ${panels.length} have`,
    );
  }
}

main(async () => {
  const { root, env } = await setUpEmscripten();
  const wasmDis = path.join(ask(path.join(root, 'em-config'), ['BINARYEN_ROOT'], env).trim(), 'bin/wasm-dis');
  const results = { passed: 0, failed: [], skipped: [] };
  const check = (name, ok, details) => {
    if (ok) results.passed += 1;
    else results.failed.push(`${name}: ${details}`);
  };
  for (const module of WASM_MODULES) await checkModule(wasmDis, module, check);
  const option = process.argv.indexOf('--json');
  if (option > 0) writeFileSync(process.argv[option + 1], JSON.stringify(results));
  for (const name of results.failed) console.log(`not ok: ${name}`);
  console.log(
    `opcodes: ${results.passed} checks ok${results.failed.length > 0 ? `, ${results.failed.length} FAILED` : ''}`,
  );
  process.exitCode = results.failed.length === 0 ? 0 : 1;
});

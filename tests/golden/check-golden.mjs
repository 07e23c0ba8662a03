// SPDX-License-Identifier: MIT
// Compares the command-line program with reference logits, one line per model; exit status 1 if any fails.
//   node tests/golden/check-golden.mjs [--only SUBSTRING] [--json FILE] FOLDER...
// A folder holds cases (model.gguf, tokens.txt, meta.json, *.f32; see README.md beside this file). Without a folder: the
// subset in this folder and, where it is there, the whole set in ../shared/golden.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const program = join(root, 'build/native-release/engine/layerstream');

/** NMSE allowed for float weights; quantised ones get a factor on the reference's own error. */
const FLOAT_LIMITS = { F32: 1e-9, F16: 1e-7, BF16: 1e-7 };
const BLOCK_32 = /^(Q4_0|Q4_1|Q5_0|Q5_1|Q8_0|IQ4_NL|NVFP4|MXFP4|MXFP4_MOE|Q1_0|Q2_0)$/;
const K_OR_TERNARY = /^(Q[2-6]_K(_[SM])?|TQ[12]_0)$/;
const MEAN_LIMIT_32 = 1.05;

const limitFor = (quant) => (BLOCK_32.test(quant) ? 1.6 : K_OR_TERNARY.test(quant) ? 0.8 : 1.1);

const floats = (path) => {
  const bytes = readFileSync(path);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
};

/**
 * Squared error over squared reference, and whether the best token agrees: at every row (`sameBest`), and at every row that
 * is decided, where the reference's two best are further apart than twice the error (`sameDecided`, for quantised weights).
 */
export function compare(ours, reference, vocab) {
  let error = 0;
  let power = 0;
  let sameBest = true;
  let sameDecided = true;
  for (let row = 0; row < reference.length / vocab; row++) {
    let best = -1;
    let bestOurs = -1;
    let second = -Infinity;
    let worst = 0;
    for (let i = 0; i < vocab; i++) {
      const a = ours[row * vocab + i];
      const b = reference[row * vocab + i];
      error += (a - b) ** 2;
      power += b ** 2;
      worst = Math.max(worst, Math.abs(a - b));
      if (best < 0 || b > reference[row * vocab + best]) {
        if (best >= 0) second = reference[row * vocab + best];
        best = i;
      } else if (b > second) second = b;
      if (bestOurs < 0 || a > ours[row * vocab + bestOurs]) bestOurs = i;
    }
    if (best === bestOurs) continue;
    sameBest = false;
    if (reference[row * vocab + best] - second > 2 * worst) sameDecided = false;
  }
  return { nmse: error / power, sameBest, sameDecided };
}

/** Runs one case; `extra`: further arguments of `layerstream logits`. */
export function logitsOf(folder, meta, extra = []) {
  const temporary = mkdtempSync(join(tmpdir(), 'golden-'));
  try {
    const out = join(temporary, 'logits.f32');
    const result = spawnSync(
      program,
      [
        'logits',
        join(folder, 'model.gguf'),
        '--tokens',
        join(folder, 'tokens.txt'),
        '--out',
        out,
        '--positions',
        meta.rows.join(','),
        '--ctx',
        String(meta.n_ctx),
        '--kv',
        'f32',
        ...extra,
      ],
      { encoding: 'utf8' },
    );
    if (result.status !== 0) return { error: (result.stderr || String(result.error)).trim() };
    return { logits: floats(out).slice() };
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function check(folder) {
  const meta = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8'));
  const { logits, error } = logitsOf(folder, meta);
  if (error) return { meta, text: error, ok: false };
  const reference = floats(join(folder, meta.compare_with));
  const { nmse, sameBest, sameDecided } = compare(logits, reference, meta.vocab);
  const quant = meta.quant.toUpperCase();
  const floatLimit = FLOAT_LIMITS[quant];
  if (floatLimit !== undefined) {
    return {
      meta,
      ok: nmse <= floatLimit && sameBest,
      text: `nmse ${nmse.toExponential(2)} (limit ${floatLimit}) best ${sameBest ? 'same' : 'DIFFERS'}`,
    };
  }
  const own = meta.yardsticks.oracle_on_quantised_vs_dequantised.nmse;
  const factor = nmse / own;
  return {
    meta,
    factor: BLOCK_32.test(quant) ? factor : undefined,
    ok: factor <= limitFor(quant) && sameDecided,
    text: `nmse ${nmse.toExponential(2)}, ${factor.toFixed(2)} of llama.cpp's (limit ${limitFor(quant)}) best ${sameDecided ? 'same' : 'DIFFERS'}`,
  };
}

function main(args) {
  const only = args.includes('--only') ? args.splice(args.indexOf('--only'), 2)[1] : '';
  const json = args.includes('--json') ? args.splice(args.indexOf('--json'), 2)[1] : undefined;
  const folders =
    args.length > 0
      ? args
      : [join(here, 'cases'), resolve(root, '../shared/golden')].filter((f) => existsSync(f));
  const results = [];
  const factors = [];
  for (const folder of folders) {
    for (const name of readdirSync(folder).sort()) {
      if (
        !existsSync(join(folder, name, 'meta.json')) ||
        !existsSync(join(folder, name, 'model.gguf')) ||
        !name.includes(only)
      )
        continue;
      const result = check(join(folder, name));
      if (result.factor !== undefined) factors.push(result.factor);
      const word = result.ok ? 'ok  ' : 'FAIL';
      results.push({ name, outcome: word.trim(), text: result.text });
      console.log(`${word} ${name.padEnd(24)} ${result.text}`);
    }
  }
  if (factors.length > 0) {
    const mean = Math.exp(factors.reduce((sum, f) => sum + Math.log(f), 0) / factors.length);
    const ok = mean <= MEAN_LIMIT_32;
    results.push({ name: 'geometric mean', outcome: ok ? 'ok' : 'FAIL', text: mean.toFixed(3) });
    console.log(
      `${ok ? 'ok  ' : 'FAIL'} geometric mean over ${factors.length} block-32 cases: ${mean.toFixed(3)} (limit ${MEAN_LIMIT_32})`,
    );
  }
  const count = (outcome) => results.filter((r) => r.outcome === outcome).length;
  console.log(`golden: ${count('ok')} ok, ${count('FAIL')} failed`);
  if (json) writeFileSync(json, JSON.stringify(results, null, 1));
  return count('FAIL') > 0 || count('ok') === 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(main(process.argv.slice(2)));

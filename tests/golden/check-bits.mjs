// SPDX-License-Identifier: MIT
// The same bits, whatever the way: for every model at hand, logits and KV cache of the command-line program are compared
// between one prefill pass and single steps, odd chunks, the smallest and the unlimited budget, small units and threads.
//   node tests/golden/check-bits.mjs [--only SUBSTRING] [--json FILE]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const shared = resolve(root, '../shared');
const program = join(root, 'build/native-release/engine/layerstream');

const WAYS = {
  steps: ['--steps'],
  'chunks of 7': ['--chunk', '7'],
  'smallest budget': ['--budget', 'min'],
  'smallest budget, small units, steps': ['--budget', 'min', '--unit-bytes', '4096', '--steps'],
  'two threads, smallest budget': ['--threads', '2', '--budget', 'min'],
};

/** Every model: path, tokens file, context. */
function* models() {
  for (const folder of [join(here, 'cases'), join(shared, 'golden')]) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder).sort()) {
      const model = join(folder, name, 'model.gguf');
      if (!existsSync(model)) continue;
      const meta = JSON.parse(readFileSync(join(folder, name, 'meta.json'), 'utf8'));
      yield { name, model, tokens: join(folder, name, 'tokens.txt'), context: meta.n_ctx };
    }
  }
  const tinychat = join(root, 'demo/models/tinychat');
  for (const file of readdirSync(tinychat).filter((f) => f.endsWith('.gguf'))) {
    yield {
      name: basename(file, '.gguf'),
      model: join(tinychat, file),
      ids: '1 273 13 1018 369 295 66 2 13 1 274 13 76 331 427 784',
      context: 64,
    };
  }
  for (const type of ['f32', 'f16', 'q8_0', 'q4_0']) {
    const model = join(shared, `data/models/stories260K-${type}.gguf`);
    if (existsSync(model))
      yield {
        name: basename(model, '.gguf'),
        model,
        ids: '1 403 407 261 378 432 383 286 261 376 298 315 421',
        context: 512,
      };
  }
}

function run(temporary, { model, tokens, ids, context }, kv, extra) {
  const tokensFile = tokens ?? join(temporary, 'tokens.txt');
  if (ids) writeFileSync(tokensFile, ids);
  const out = join(temporary, 'out');
  const kvOut = join(temporary, 'kv');
  const result = spawnSync(
    program,
    [
      'logits',
      model,
      '--tokens',
      tokensFile,
      '--out',
      out,
      '--kv-out',
      kvOut,
      '--ctx',
      String(context),
      '--kv',
      kv,
      ...extra,
    ],
    { encoding: 'utf8' },
  );
  if (result.status !== 0) return { error: (result.stderr || String(result.error)).trim() };
  return { logits: readFileSync(out), kv: readFileSync(kvOut) };
}

function check(temporary, model, kv) {
  const reference = run(temporary, model, kv, []);
  if (reference.error)
    return {
      outcome: 'FAIL',
      text: reference.error,
    };
  for (const [way, extra] of Object.entries(WAYS)) {
    const other = run(temporary, model, kv, extra);
    if (other.error) return { outcome: 'FAIL', text: `${way}: ${other.error}` };
    if (!other.logits.equals(reference.logits)) return { outcome: 'FAIL', text: `${way}: logits differ` };
    if (!other.kv.equals(reference.kv)) return { outcome: 'FAIL', text: `${way}: cache differs` };
  }
  return {
    outcome: 'ok',
    text: `${Object.keys(WAYS).length} ways, ${reference.logits.length} bytes of logits, ${reference.kv.length} of cache`,
  };
}

function main(args) {
  const only = args.includes('--only') ? args.splice(args.indexOf('--only'), 2)[1] : '';
  const json = args.includes('--json') ? args.splice(args.indexOf('--json'), 2)[1] : undefined;
  const temporary = mkdtempSync(join(tmpdir(), 'bits-'));
  const results = [];
  for (const model of models()) {
    if (!model.name.includes(only)) continue;
    for (const kv of ['f32', 'f16', 'q8']) {
      const result = { name: `${model.name} kv ${kv}`, ...check(temporary, model, kv) };
      results.push(result);
      console.log(`${result.outcome.padEnd(4)} ${result.name.padEnd(30)} ${result.text}`);
    }
  }
  rmSync(temporary, { recursive: true });
  const count = (outcome) => results.filter((r) => r.outcome === outcome).length;
  console.log(`bits: ${count('ok')} ok, ${count('FAIL')} failed`);
  if (json) writeFileSync(json, JSON.stringify(results, null, 1));
  return count('FAIL') > 0 || count('ok') === 0 ? 1 : 0;
}

process.exit(main(process.argv.slice(2)));

// SPDX-License-Identifier: MIT
// Trained models answer as the reference: greedy ids and text of `layerstream generate`. tinychat lies in the repository;
// stories260K (a third party's) is checked where ../shared is.
//   node tests/golden/check-greedy.mjs [--json FILE]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const program = join(root, 'build/native-release/engine/layerstream');
const temporary = mkdtempSync(join(tmpdir(), 'greedy-'));

function generate(model, ids, n, extra) {
  const file = join(temporary, 'ids.txt');
  writeFileSync(file, ids.join(' '));
  const result = spawnSync(
    program,
    [
      'generate',
      model,
      '--ids',
      file,
      '-n',
      String(n),
      '--temp',
      '0',
      '--kv',
      'f32',
      '--ctx',
      '512',
      '--json',
      ...extra,
    ],
    { encoding: 'utf8' },
  );
  if (result.status !== 0) throw new Error(result.stderr || String(result.error));
  return JSON.parse(result.stdout);
}

/** Logits of two ids after `ids`, to show a near-tie. */
function twoLogits(model, ids, a, b) {
  const tokens = join(temporary, 'tokens.txt');
  const out = join(temporary, 'logits.f32');
  writeFileSync(tokens, ids.join(' '));
  spawnSync(program, [
    'logits',
    model,
    '--tokens',
    tokens,
    '--out',
    out,
    '--positions',
    'last',
    '--kv',
    'f32',
  ]);
  const bytes = readFileSync(out);
  return [a, b].map((id) => bytes.readFloatLE(4 * id));
}

function allLogits(model, ids) {
  const tokens = join(temporary, 'tokens.txt');
  const out = join(temporary, 'logits.f32');
  writeFileSync(tokens, ids.join(' '));
  spawnSync(program, ['logits', model, '--tokens', tokens, '--out', out, '--kv', 'f32']);
  const bytes = readFileSync(out);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

function* tinychat() {
  const folder = join(root, 'demo/models/tinychat');
  const chats = JSON.parse(readFileSync(join(folder, 'chats.json'), 'utf8'));
  for (const file of readdirSync(folder).filter((f) => f.endsWith('.gguf'))) {
    for (const [i, chat] of chats.entries()) {
      const expected = chat.replies[file];
      const ours = generate(join(folder, file), chat.prompt_ids, 200, []);
      const at = expected.ids.findIndex((id, k) => ours.ids[k] !== id);
      let text = `${ours.ids.length} ids`;
      if (at >= 0) {
        const [a, b] = twoLogits(
          join(folder, file),
          [...chat.prompt_ids, ...expected.ids.slice(0, at)],
          expected.ids[at],
          ours.ids[at],
        );
        text = `differs at ${at}: reference id ${expected.ids[at]} has ${a}, ours ${ours.ids[at]} has ${b}`;
      }
      yield {
        name: `${file} chat ${i}`,
        ok:
          at < 0 &&
          ours.ids.length === expected.ids.length &&
          ours.text === expected.text &&
          ours.finish_reason === 'stop',
        text,
      };
    }
  }
}

function* stories() {
  const folder = resolve(root, '../shared/data/models');
  const expectedFile = join(folder, 'stories260K.expected.json');
  if (!existsSync(expectedFile)) {
    console.log('notice: ../shared is absent: stories260K is not checked');
    return;
  }
  for (const run of JSON.parse(readFileSync(expectedFile, 'utf8')).runs) {
    const n = run.ids.length - run.promptIds.length;
    const ours = generate(join(folder, 'stories260K-f32.gguf'), run.promptIds, n, ['--ignore-eos']);
    const ids = [...ours.prompt_ids, ...ours.ids];
    const textFits = run.text === run.prompt + ours.text;
    yield {
      name: `stories260K-f32 "${run.prompt}"`,
      ok: JSON.stringify(ids) === JSON.stringify(run.ids) && textFits,
      text: `${n} ids, text ${textFits ? 'same' : 'DIFFERS'}`,
    };
  }
}

/** minGPT's sorter: logits that PyTorch gave, and inputs with their sorted continuation. */
function* sorter() {
  const folder = resolve(root, '../shared/data/models');
  const expectedFile = join(folder, 'gpt-nano-sort.expected.json');
  if (!existsSync(expectedFile)) return;
  const model = join(folder, 'gpt-nano-sort-f32.gguf');
  const expected = JSON.parse(readFileSync(expectedFile, 'utf8'));
  for (const [i, { ids, logits }] of expected.torchLogits.entries()) {
    const ours = allLogits(model, ids);
    const worst = Math.max(...logits.flat().map((value, k) => Math.abs(value - ours[k])));
    yield {
      name: `gpt-nano-sort logits ${i}`,
      ok: worst < 1e-3,
      text: `largest difference from PyTorch ${worst.toExponential(1)}`,
    };
  }
  for (const sort of expected.sort.filter((_, i) => i % 20 === 0)) {
    const ours = generate(model, [...sort.in], sort.out.length, ['--ignore-eos']).ids.join('');
    yield { name: `gpt-nano-sort ${sort.in}`, ok: ours === sort.out, text: ours };
  }
}

const json = process.argv.includes('--json') ? process.argv[process.argv.indexOf('--json') + 1] : undefined;
const results = [];
for (const check of [tinychat, stories, sorter]) {
  for (const { name, ok, text } of check()) {
    results.push({ name, outcome: ok ? 'ok' : 'FAIL', text });
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(36)} ${text}`);
  }
}
rmSync(temporary, { recursive: true });
const failed = results.filter((r) => r.outcome !== 'ok').length;
console.log(`greedy: ${results.length - failed} ok, ${failed} failed`);
if (json) writeFileSync(json, JSON.stringify(results, null, 1));
process.exit(failed > 0 || results.length === 0 ? 1 : 0);

// SPDX-License-Identifier: MIT
// Ids and texts of `layerstream tokenize` and `detokenize`, vocabulary by vocabulary: small generated ones against slow
// definitions, the demo's, and (where ../shared is) real ones against ids of independent implementations. Where those
// differ among themselves a case has several lists, and each counts.
//   node tests/golden/check-vocab.mjs [--json FILE]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generatedVocabularies } from './vocab/generated.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const program = join(root, 'build/native-release/engine/layerstream');
const temporary = mkdtempSync(join(tmpdir(), 'vocab-'));
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** One run for many lines: JSON values in, JSON values out. */
function run(command, gguf, flags, values) {
  const input = values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const result = spawnSync(program, [command, gguf, '--jsonl', ...flags], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (result.status !== 0) throw new Error(result.stderr || String(result.error));
  const out = result.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  if (out.length !== values.length)
    throw new Error(`${command} gave ${out.length} lines for ${values.length}`);
  return out;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const flagsOf = ({ parseSpecial, addSpecial }) => [
  ...(parseSpecial ? ['--parse-special'] : []),
  ...(addSpecial ? ['--add-special'] : []),
];

/** Cases { text, parseSpecial?, addSpecial?, ids: lists of which one must come out, decoded? }: the mismatches. */
function mismatches(gguf, cases) {
  const found = [];
  for (const flags of ['', '--parse-special', '--add-special', '--parse-special --add-special']) {
    const group = cases.filter((one) => flagsOf(one).join(' ') === flags);
    if (group.length === 0) continue;
    const ids = run(
      'tokenize',
      gguf,
      flags.split(' ').filter(Boolean),
      group.map(({ text }) => text),
    );
    const texts = run('detokenize', gguf, ['--with-control'], ids);
    for (const [i, one] of group.entries()) {
      if (!one.ids.some((list) => same(list, ids[i]))) {
        found.push(
          `${JSON.stringify(one.text)} ${flags}: ${JSON.stringify(ids[i])}, expected ${JSON.stringify(one.ids[0])}`,
        );
      } else if (one.decoded !== undefined && one.decoded !== texts[i]) {
        found.push(`${JSON.stringify(one.text)} comes back as ${JSON.stringify(texts[i])}`);
      }
    }
  }
  return found;
}

function* generated() {
  for (const { name, gguf, cases } of generatedVocabularies(pathToFileURL(`${root}/`))) {
    const file = join(temporary, 'vocab.gguf');
    writeFileSync(file, gguf);
    yield { name, file, cases };
  }
}

function* tinychat() {
  const folder = join(root, 'demo/models/tinychat');
  const turns = (chat) =>
    chat.messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join('');
  const cases = readJson(join(folder, 'chats.json')).map((chat) => {
    const text = `${turns(chat)}<|im_start|>assistant\n`;
    return { text, parseSpecial: true, ids: [chat.prompt_ids], decoded: text };
  });
  yield { name: 'tinychat', file: join(folder, 'tinychat-q8_0.gguf'), cases };
}

function* real() {
  const folder = resolve(root, '../shared/data/vocab');
  if (!existsSync(folder)) {
    yield { name: 'real vocabularies', skip: 'no ../shared/data/vocab' };
    return;
  }
  const lists = (...all) => all.filter(Boolean);
  for (const file of readdirSync(folder).filter((name) => /^(vectors|chat)-.*\.json$/.test(name))) {
    const data = readJson(join(folder, file));
    // White space behind Phi-3's special tokens is gone, and U+2581 is a space to SentencePiece: no way back there.
    const isChat = file.startsWith('chat-');
    const composed = (text) => (data.vocab.startsWith('qwen') ? text.normalize('NFC') : text);
    const plain = data.cases.map(({ text, ids, llamacpp, hf }) => ({
      text,
      ids: lists(ids, llamacpp, hf),
      parseSpecial: isChat,
      decoded: isChat || text.includes('\u2581') ? undefined : composed(text),
    }));
    const special = (data.special ?? []).flatMap((one) => [
      { text: one.text, ids: [one.plain] },
      { text: one.text, parseSpecial: true, ids: lists(one.parsed, one.hf) },
      { text: one.text, parseSpecial: true, addSpecial: true, ids: [one.parsedAddSpecial] },
    ]);
    yield { name: file.replace('.json', ''), file: join(folder, data.gguf), cases: [...plain, ...special] };
  }
}

const json = process.argv.includes('--json') ? process.argv[process.argv.indexOf('--json') + 1] : undefined;
const results = [];
for (const source of [generated, tinychat, real]) {
  for (const { name, file, cases, skip } of source()) {
    const wrong = skip ? [] : mismatches(file, cases);
    const text =
      skip ?? `${cases.length} cases, ${cases.length - wrong.length} exact, ${wrong.length} mismatches`;
    const outcome = skip ? 'skip' : wrong.length > 0 || cases.length === 0 ? 'FAIL' : 'ok';
    results.push({ name, outcome, text });
    console.log(`${outcome.padEnd(4)} ${name.padEnd(36)} ${text}`);
    for (const line of wrong.slice(0, 5)) console.log(`     ${line}`);
  }
}
rmSync(temporary, { recursive: true });
const count = (outcome) => results.filter((one) => one.outcome === outcome).length;
console.log(`vocabularies: ${count('ok')} ok, ${count('FAIL')} failed, ${count('skip')} skipped`);
if (json) writeFileSync(json, JSON.stringify(results, null, 1));
process.exit(count('FAIL') > 0 || count('ok') === 0 ? 1 : 0);

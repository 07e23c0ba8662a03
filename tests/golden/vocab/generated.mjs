// SPDX-License-Identifier: MIT
// Small vocabularies of both kinds, learned from the lines below, and texts to try them on. All of it is our own, so a
// clone alone tests every pre-tokenizer's pattern through the program.
import { readFileSync } from 'node:fs';
import { PATTERNS, cut } from '../../../scripts/unicode/patterns.mjs';
import { generator } from '../../../scripts/unicode/cases.mjs';
import { GgufWriter } from './gguf-writer.mjs';
import {
  BYTE,
  BYTE_ALPHABET,
  CONTROL,
  NORMAL,
  Reference,
  UNKNOWN,
  USER_DEFINED,
  normalized,
  printable,
} from './reference.mjs';

const LINES = [
  "The model reads its weights one block at a time, and it doesn't hold them all. It's slow, but it'll end.",
  'A tab with 512 MiB of memory can run a model of 7000 million weights; 1,234,567 tokens cost 98765 seconds.',
  'for (let i = 0; i < rows.length; ++i) {\n    sum += rows[i] * 0.5; // HTTPServer, camelCase\n\n\n}\r\n\tdone\n',
  'Die Größe der Wörter zählt: Straße, Äpfel, über 50 % mehr. L’été, où Noël naît; señal, coração, přítel.',
  'Быстрая лиса прыгает через ленивую собаку. Το μοντέλο διαβάζει λέξεις. שלום עולם, مرحبا بالعالم ١٢٣٤٥.',
  '模型一层一层地读取权重。今天是2024年5月17日，天气很好！モデルは一層ずつ読みます。カタカナ・ひらがな。모델은 한 층씩 읽습니다.',
  'हिन्दी में एक वाक्य। ภาษาไทยไม่มีช่องว่าง தமிழ் மொழி 🙂👩‍💻🇪🇺 ∑∫√ €£¥ ½ ² Ⅷ',
  'e\u0301 a\u0323\u0301 \u1100\u1161\u11a8 \u212b n\u0303   \t  \u00a0\u3000 \u2028 tail   ',
];
const USER_TEXTS = ['<tool>', '    ', '\u2581x', '<tool>>'];
const CONTROL_TEXTS = ['<|start|>', '<|end|>', '<|start|><|end|>'];

/** Learns `count` merges of the most frequent pair (the first of equals) over words (lists of symbols). */
function learn(words, count) {
  const list = words.map((word) => [...word]);
  const merges = [];
  while (merges.length < count) {
    const counts = new Map();
    for (const word of list) {
      for (let i = 0; i + 1 < word.length; ++i) {
        const pair = `${word[i]} ${word[i + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const best = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 1]);
    if (best[1] < 2) break;
    merges.push(best[0]);
    const [left, right] = best[0].split(' ');
    for (const word of list) {
      for (let i = 0; i + 1 < word.length; ++i)
        if (word[i] === left && word[i + 1] === right) word.splice(i, 2, left + right);
    }
  }
  return merges;
}

const unique = (texts, seen = new Set()) => texts.filter((text) => !seen.has(text) && seen.add(text));
const typed = (type, texts, score = 0) => texts.map((text) => ({ text, type, score }));

function bytePairVocabulary(pre) {
  const words = LINES.flatMap((line) => cut(PATTERNS[pre], normalized(pre, line))).map(printable);
  const merges = learn(words, 400);
  const texts = unique([...BYTE_ALPHABET, ...merges.map((merge) => merge.replace(' ', ''))]);
  const tokens = [
    ...typed(NORMAL, texts),
    ...typed(USER_DEFINED, USER_TEXTS),
    ...typed(CONTROL, CONTROL_TEXTS),
  ];
  const ranks = new Map(merges.map((merge, rank) => [merge, rank]));
  return { name: `generated gpt2 ${pre}`, kind: 'gpt2', pre, tokens, ranks };
}

function pieceVocabulary(addsSpace) {
  const marked = LINES.join('\n').replaceAll(' ', '\u2581');
  const merges = learn(marked.split(/(?<!\u2581)(?=\u2581)/u), 500);
  const characters = unique([...LINES[0], ...LINES[1], ...LINES[3], '\u2581'].filter((c) => c !== ' '));
  const joined = unique(
    merges.map((merge) => merge.replace(' ', '')),
    new Set(characters),
  );
  const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`);
  const tokens = [
    ...typed(UNKNOWN, ['<unk>']),
    ...typed(CONTROL, ['<s>', '</s>']),
    ...typed(BYTE, bytes),
    // Some scores are equal on purpose: the leftmost pair comes first then.
    ...joined.map((text, i) => ({ text, type: NORMAL, score: -Math.floor(i / 3) })),
    ...typed(NORMAL, characters, -1000),
    ...typed(USER_DEFINED, USER_TEXTS, -1000),
    ...typed(CONTROL, CONTROL_TEXTS, -1000),
  ];
  return {
    name: `generated llama ${addsSpace ? 'with' : 'without'} space prefix`,
    kind: 'llama',
    addsSpace,
    tokens,
  };
}

function ggufOf({ kind, pre, tokens, ranks, addsSpace }) {
  const gguf = new GgufWriter().string('general.architecture', 'llama').string('tokenizer.ggml.model', kind);
  gguf.strings(
    'tokenizer.ggml.tokens',
    tokens.map(({ text }) => text),
  );
  gguf.i32s(
    'tokenizer.ggml.token_type',
    tokens.map(({ type }) => type),
  );
  if (kind === 'gpt2')
    gguf.string('tokenizer.ggml.pre', pre).strings('tokenizer.ggml.merges', [...ranks.keys()]);
  else
    gguf
      .f32s(
        'tokenizer.ggml.scores',
        tokens.map(({ score }) => score),
      )
      .bool('tokenizer.ggml.add_space_prefix', addsSpace);
  return gguf.bytes();
}

/** Seeded cuttings and mixtures of the lines, with special texts among them, and the pre-tokenizers' own cases. */
function texts(root) {
  const below = generator(20250301);
  const piece = () => {
    const characters = [...LINES[below(LINES.length)]];
    const at = below(characters.length);
    return characters.slice(at, at + 1 + below(12)).join('');
  };
  const special = () => [...USER_TEXTS, ...CONTROL_TEXTS, '<s>', '<unk>', '<0x41>'][below(10)];
  const mixed = Array.from({ length: 300 }, () =>
    Array.from({ length: 1 + below(6) }, () => (below(5) === 0 ? special() : piece())).join(''),
  );
  const cases = JSON.parse(
    readFileSync(new URL('tests/unit/tokenizer/pretokenizer_cases.json', root), 'utf8'),
  ).cases;
  return ['', ...LINES, ...mixed, ...cases.filter((_, i) => i % 3 === 0).map(({ text }) => text)];
}

/** Each vocabulary with its file's bytes and cases { text, parseSpecial, ids (a list of lists), decoded? }. */
export function* generatedVocabularies(root) {
  const all = texts(root);
  const kinds = [
    ...Object.keys(PATTERNS).map(bytePairVocabulary),
    pieceVocabulary(true),
    pieceVocabulary(false),
  ];
  for (const vocabulary of kinds) {
    const reference = new Reference(vocabulary);
    const { kind, pre, addsSpace } = vocabulary;
    // Not lossless: composing, U+2581 where it means a space, and spaces put behind special tokens.
    const comesBack = (text) => (kind === 'gpt2' ? pre !== 'qwen2' : !addsSpace && !text.includes('\u2581'));
    const cases = all.flatMap((text) =>
      [false, true].map((parseSpecial) => ({
        text,
        parseSpecial,
        ids: [reference.encode(text, parseSpecial)],
        decoded: comesBack(text) ? text : undefined,
      })),
    );
    yield { name: vocabulary.name, gguf: ggufOf(vocabulary), cases };
  }
}

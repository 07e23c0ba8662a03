// SPDX-License-Identifier: MIT
// The expressions that models publish with their tokenizers (`pre_tokenizer` of tokenizer.json), in JavaScript's
// spelling: the judge of the hand-written splitters in engine/tokenizer/. An array is a chain: each expression cuts
// the pieces of the one before, and what it does not match stays one piece ("Isolated").

// JavaScript's \s is not Unicode's White_Space, so that property is named.
const S = '\\p{White_Space}';
const NOT_S = '\\P{White_Space}';
const OTHER = `[^${S}\\p{L}\\p{N}]`;
const CONTRACTIONS = "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])";
const SPACES = `${S}*[\\r\\n]+|${S}+(?!${NOT_S})|${S}+`;
const UPPER_SIDE = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER_SIDE = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const LEAD = '[^\\r\\n\\p{L}\\p{N}]?';

const GPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?${OTHER}+|${S}+(?!${NOT_S})|${S}+`;
const words = (digits) => `${CONTRACTIONS}|${LEAD}\\p{L}+|\\p{N}{1,${digits}}| ?${OTHER}+[\\r\\n]*|${SPACES}`;
const casedWords = (digits, suffix) =>
  `${LEAD}${UPPER_SIDE}*${LOWER_SIDE}+${suffix}|${LEAD}${UPPER_SIDE}+${LOWER_SIDE}*${suffix}|` +
  `\\p{N}{1,${digits}}| ?${OTHER}+[\\r\\n/]*|${SPACES}`;
const DIGITS = '\\p{N}';

// DeepSeek LLM and Coder (2023): letters that have case, as their tokenizer lists them.
export const CASED_LETTERS =
  'A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377' +
  '\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556' +
  '\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a' +
  '\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4' +
  '\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc' +
  '\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f' +
  '\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b' +
  '\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a' +
  '\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}' +
  '\u{118a0}-\u{118df}\u{1e900}-\u{1e943}';
const CJK = '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+';

/** Value of tokenizer.ggml.pre -> chain. One name per pattern; others with the same pattern are in the engine's table. */
export const PATTERNS = {
  'gpt-2': [GPT2],
  'llama-bpe': [words(3)],
  qwen2: [words(1)],
  tekken: [casedWords(1, '')],
  'gpt-4o': [casedWords(3, `(?:${CONTRACTIONS})?`)],
  smollm: [DIGITS, GPT2],
  'seed-coder': [`${CONTRACTIONS}|${LEAD}\\p{L}+|\\p{N}| ?${OTHER}+|${SPACES}`],
  'deepseek-llm': [
    '[\\r\\n]',
    `${S}?[${CASED_LETTERS}]+`,
    `${S}?[!-\\/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+`,
    `${S}+$`,
    CJK,
    DIGITS,
  ],
  'deepseek-coder': ['[\\r\\n]', `${S}?\\p{L}+`, `${S}?\\p{P}+`, CJK, DIGITS],
  'deepseek-v3': [
    '\\p{N}{1,3}',
    '[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+',
    `[!"#$%&'()*+,\\-.\\/:;<=>?@\\[\\\\\\]^_\`{\\|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|` +
      ` ?[\\p{P}\\p{S}]+[\\r\\n]*|${SPACES}`,
  ],
  // llama.cpp's own choice for files that name no pattern; `falcon` differs by one character.
  default: ['[\\p{P}$+<=>^~\\|]+', GPT2, '\\p{N}+', '[0-9][0-9][0-9]'],
  falcon: ['[\\p{P}$+<=>^~\\|`]+', GPT2, '\\p{N}+', '[0-9][0-9][0-9]'],
  viking: [` ?[^${S}\\(\\|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c\\)]+`, DIGITS],
};

/** The pieces of a text, joined equal to it. */
export function cut(chain, text) {
  let pieces = [text];
  for (const expression of chain) {
    const regex = new RegExp(expression, 'gu');
    pieces = pieces.flatMap((piece) => {
      const out = [];
      let at = 0;
      for (const match of piece.matchAll(regex)) {
        if (match.index > at) out.push(piece.slice(at, match.index));
        out.push(match[0]);
        at = match.index + match[0].length;
      }
      if (at < piece.length) out.push(piece.slice(at));
      return out;
    });
  }
  return pieces;
}

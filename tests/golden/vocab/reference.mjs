// SPDX-License-Identifier: MIT
// Both kinds of tokenizer as their definitions read: one merge at a time, the best of all, the leftmost of equals.
// Slow, and independent of the engine: the pieces come from regular expressions, NFC from JavaScript.
import { PATTERNS, cut } from '../../../scripts/unicode/patterns.mjs';

export const NORMAL = 1;
export const UNKNOWN = 2;
export const CONTROL = 3;
export const USER_DEFINED = 4;
export const BYTE = 6;

const WHOLE_PIECE_FIRST = new Set(['llama-bpe', 'tekken']);
export const normalized = (pre, text) => (pre === 'qwen2' ? text.normalize('NFC') : text);

/** The printable stand-in of each byte. */
export const BYTE_ALPHABET = (() => {
  const itself = (b) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(itself(b) ? b : next++));
})();
export const printable = (text) => Array.from(Buffer.from(text), (byte) => BYTE_ALPHABET[byte]);

/** Merges neighbours until none can; `order(joined, left, right)`: lower comes first, undefined: cannot merge. */
export function mergeAll(symbols, order) {
  const list = [...symbols];
  for (;;) {
    let best = -1;
    let lowest = Infinity;
    for (let i = 0; i + 1 < list.length; ++i) {
      const rank = order(list[i] + list[i + 1], list[i], list[i + 1]);
      if (rank !== undefined && rank < lowest) [best, lowest] = [i, rank];
    }
    if (best < 0) return list;
    list.splice(best, 2, list[best] + list[best + 1]);
  }
}

/** Cuts out special tokens, the longest first: [{ text, id? }]. */
function fragments(vocabulary, text, parseSpecial) {
  const specials = vocabulary.tokens
    .map(({ text: special, type }, id) => ({ special, type, id }))
    .filter(({ type }) => type === USER_DEFINED || (parseSpecial && (type === CONTROL || type === UNKNOWN)))
    .sort((a, b) => Buffer.byteLength(b.special) - Buffer.byteLength(a.special) || a.id - b.id);
  let list = text === '' ? [] : [{ text }];
  for (const { special, id } of specials) {
    list = list.flatMap((fragment) => {
      if (fragment.id !== undefined) return [fragment];
      const between = fragment.text.split(special).map((part) => (part === '' ? [] : [{ text: part }]));
      return between.flatMap((part, i) => (i === 0 ? part : [{ text: special, id }, ...part]));
    });
  }
  return list;
}

export class Reference {
  #ids;

  /** `kind`: 'gpt2' with `pre` and `ranks` (Map "left right" -> rank), or 'llama' with scores in the tokens. */
  constructor(vocabulary) {
    this.vocabulary = vocabulary;
    this.#ids = new Map(vocabulary.tokens.map(({ text }, id) => [text, id]));
  }

  encode(text, parseSpecial) {
    const ids = [];
    let atStart = true;
    for (const { text: part, id } of fragments(this.vocabulary, text, parseSpecial)) {
      if (id !== undefined) ids.push(id);
      else
        ids.push(...(this.vocabulary.kind === 'gpt2' ? this.#bytePairs(part) : this.#pieces(part, atStart)));
      atStart = id !== undefined;
    }
    return ids;
  }

  #bytePairs(text) {
    const { pre, ranks } = this.vocabulary;
    return cut(PATTERNS[pre], normalized(pre, text)).flatMap((piece) => {
      const bytes = printable(piece);
      const whole = this.#ids.get(bytes.join(''));
      if (WHOLE_PIECE_FIRST.has(pre) && whole !== undefined) return [whole];
      const merged = mergeAll(bytes, (_, left, right) => ranks.get(`${left} ${right}`));
      return merged.map((symbol) => this.#ids.get(symbol));
    });
  }

  #pieces(text, atStart) {
    const { tokens, addsSpace } = this.vocabulary;
    const plain = (symbol) => {
      const id = this.#ids.get(symbol);
      return id !== undefined && [NORMAL, USER_DEFINED].includes(tokens[id].type) ? id : undefined;
    };
    const marked = ((addsSpace && atStart ? ' ' : '') + text).replaceAll(' ', '\u2581');
    const merged = mergeAll(marked, (joined) => {
      const id = plain(joined);
      return id === undefined ? undefined : -tokens[id].score;
    });
    return merged.flatMap((symbol) => {
      const id = plain(symbol);
      if (id !== undefined) return [id];
      const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, '0');
      return Array.from(Buffer.from(symbol), (byte) => this.#ids.get(`<0x${hex(byte)}>`));
    });
  }
}

// SPDX-License-Identifier: MIT
// Prompt -> ids, such that text of a message never becomes a control token. The prompt is tokenised as one text
// wherever that is safe (cutting it would change how words merge); only where a control token takes in a character
// that came from a message is it cut around the spelling, and the spelling itself is tokenised as plain text.

import type { Engine } from '../engine/module.js';
import type { Prompt, TextRange } from '../protocol/data.js';

export class PromptTokenizer {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  tokenize(prompt: Prompt): readonly number[] {
    if ('ids' in prompt) {
      return prompt.ids;
    }
    const { text, addSpecial, parseSpecial, untrusted } = prompt;
    const whole = this.#engine.tokenize(text, { addSpecial, parseSpecial });
    const spellings = parseSpecial ? spelledBy(untrusted, text, this.#controlTexts(whole)) : [];
    if (spellings.length === 0) {
      return whole;
    }
    const ids: number[] = [];
    let at = 0;
    for (const spelling of [...spellings, { start: text.length, end: text.length }]) {
      const between = text.slice(at, spelling.start);
      if (between !== '' || at === 0) {
        ids.push(...this.#engine.tokenize(between, { addSpecial: addSpecial && at === 0, parseSpecial }));
      }
      if (spelling.end > spelling.start) {
        const plain = text.slice(spelling.start, spelling.end);
        ids.push(...this.#engine.tokenize(plain, { addSpecial: false, parseSpecial: false }));
      }
      at = spelling.end;
    }
    return ids;
  }

  /** Texts of the control tokens among the ids, longest first. */
  #controlTexts(ids: readonly number[]): string[] {
    const texts: string[] = [];
    for (const id of new Set(ids)) {
      const text = this.#engine.detokenize([id], true);
      if (text !== '' && this.#engine.detokenize([id], false) === '') {
        texts.push(text);
      }
    }
    return texts.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  }
}

/** Where one of `words` stands with at least one character in one of the sorted `ranges`. */
function spelledBy(ranges: readonly TextRange[], text: string, words: readonly string[]): TextRange[] {
  if (ranges.length === 0 || words.length === 0) {
    return [];
  }
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
  const found: TextRange[] = [];
  let next = 0;
  for (const match of text.matchAll(pattern)) {
    const spelling = { start: match.index, end: match.index + match[0].length };
    while ((ranges[next]?.end ?? Infinity) <= spelling.start) {
      next += 1;
    }
    if ((ranges[next]?.start ?? Infinity) < spelling.end) {
      found.push(spelling);
    }
  }
  return found;
}

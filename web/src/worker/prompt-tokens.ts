// SPDX-License-Identifier: MIT
// Prompt -> ids, such that text of a message never becomes a control token. The prompt is tokenised as one text
// wherever that is safe (cutting it would change how words merge); only where a message spells a control token is
// it cut around the spelling, and the spelling itself is tokenised as plain text.

import { createError } from '../errors.js';
import type { Engine } from '../engine/module.js';
import type { Prompt, TextRange } from '../protocol/data.js';

export class PromptTokenizer {
  readonly #engine: Engine;
  /** Texts of all control tokens, longest first; made when first needed (it walks the vocabulary). */
  #controlTexts: string[] | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  tokenize(prompt: Prompt): readonly number[] {
    if ('ids' in prompt) {
      return prompt.ids;
    }
    const { text, addSpecial, parseSpecial } = prompt;
    if (!parseSpecial) {
      return this.#engine.tokenize(text, { addSpecial, parseSpecial });
    }
    if (prompt.untrusted === null) {
      const spelled = prompt.contents.find((content) => this.#spellsControl(content));
      if (spelled !== undefined) {
        throw createError(
          'unsafe_prompt',
          'a message contains the text of a control token, and this chat template changes messages in a way that ' +
            'hides which text is whose',
          { details: { message: spelled.slice(0, 200) } },
        );
      }
      return this.#engine.tokenize(text, { addSpecial, parseSpecial });
    }
    const spellings = prompt.untrusted
      .filter((range) => this.#spellsControl(text.slice(range.start, range.end)))
      .flatMap((range) => this.#spellingsIn(text, range));
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

  #spellsControl(text: string): boolean {
    const parsed = this.#engine.tokenize(text, { addSpecial: false, parseSpecial: true });
    const plain = this.#engine.tokenize(text, { addSpecial: false, parseSpecial: false });
    return parsed.length !== plain.length || parsed.some((id, index) => id !== plain[index]);
  }

  #spellingsIn(text: string, range: TextRange): TextRange[] {
    const controls = this.#controls();
    const found: TextRange[] = [];
    for (let at = range.start; at < range.end;) {
      const control = controls.find(
        (candidate) => text.startsWith(candidate, at) && at + candidate.length <= range.end,
      );
      if (control === undefined) {
        at += 1;
      } else {
        found.push({ start: at, end: at + control.length });
        at += control.length;
      }
    }
    return found;
  }

  #controls(): string[] {
    if (this.#controlTexts === null) {
      const texts: string[] = [];
      for (let id = 0; id < this.#engine.vocabSize; ++id) {
        const text = this.#engine.detokenize([id], true);
        if (text !== '' && this.#engine.detokenize([id], false) === '') {
          texts.push(text);
        }
      }
      this.#controlTexts = texts.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
    }
    return this.#controlTexts;
  }
}

// SPDX-License-Identifier: MIT
// Text that remembers which of its characters came from the caller's messages. Whatever a template does with a
// message (cuts it, trims it, quotes it), the rendered prompt still knows which characters are not the template's own.

import { limitError, maxTextLength } from './failure.js';

/** Half-open range of UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

const noSpans: readonly Span[] = [];

export class Text {
  static readonly empty = new Text('');

  readonly text: string;
  /** Ranges that came from outside: sorted, apart, not empty. */
  readonly untrusted: readonly Span[];

  constructor(text: string, untrusted: readonly Span[] = noSpans) {
    this.text = text;
    this.untrusted = untrusted;
  }

  static fromOutside(text: string): Text {
    return new Text(text, text === '' ? noSpans : [{ start: 0, end: text.length }]);
  }

  /** A text made from `sources` in a way that moves characters about: all of it is untrusted if any of them is. */
  static madeFrom(text: string, ...sources: readonly Text[]): Text {
    return sources.some((source) => source.untrusted.length > 0) ? Text.fromOutside(text) : new Text(text);
  }

  get length(): number {
    return this.text.length;
  }

  slice(start: number, end = this.text.length): Text {
    if (start <= 0 && end >= this.text.length) {
      return this;
    }
    const cut: Span[] = [];
    for (const span of this.untrusted) {
      const from = Math.max(span.start, start);
      const to = Math.min(span.end, end);
      if (from < to) {
        cut.push({ start: from - start, end: to - start });
      }
    }
    return new Text(this.text.slice(start, end), cut);
  }

  /** Replaces each match; the new characters are as trusted as the ones they stand for. */
  mapMatches(pattern: RegExp, replacement: (match: string) => string): Text {
    const joined = new TextBuilder();
    let at = 0;
    for (const match of this.text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      joined.add(this.slice(at, match.index));
      joined.add(Text.madeFrom(replacement(match[0]), this.slice(match.index, end)));
      at = end;
    }
    return joined.add(this.slice(at)).done();
  }

  repeat(count: number): Text {
    if (count <= 0 || this.length === 0) {
      return Text.empty;
    }
    checkLength(this.length * count);
    if (this.untrusted.length === 0) {
      return new Text(this.text.repeat(count));
    }
    const joined = new TextBuilder();
    for (let index = 0; index < count; ++index) {
      joined.add(this);
    }
    return joined.done();
  }
}

function checkLength(length: number): void {
  if (length > maxTextLength) {
    throw limitError(`it makes a text of more than ${maxTextLength} characters`);
  }
}

export class TextBuilder {
  readonly #parts: string[] = [];
  readonly #untrusted: Span[] = [];
  #length = 0;

  add(piece: Text): this {
    checkLength(this.#length + piece.length);
    for (const { start, end } of piece.untrusted) {
      const last = this.#untrusted.at(-1);
      if (last !== undefined && last.end === this.#length + start) {
        last.end = this.#length + end;
      } else {
        this.#untrusted.push({ start: this.#length + start, end: this.#length + end });
      }
    }
    this.#parts.push(piece.text);
    this.#length += piece.length;
    return this;
  }

  /** Text of our own. */
  addString(piece: string): this {
    return this.add(new Text(piece));
  }

  done(): Text {
    return new Text(this.#parts.join(''), this.#untrusted);
  }
}

export function concat(...pieces: readonly Text[]): Text {
  const joined = new TextBuilder();
  for (const piece of pieces) {
    joined.add(piece);
  }
  return joined.done();
}

// SPDX-License-Identifier: MIT
// Cuts a template into text and tags, with the white space rules of Jinja2 as transformers sets it up: trim_blocks and
// lstrip_blocks, {%- -%}, {%+ +%}, comments, {% raw %}. String literals are read here too, by Python's escapes.

import { failure } from './failure.js';
import { strip } from './text-methods.js';
import { Text } from './text.js';

export type Piece =
  | { kind: 'text'; text: string }
  /** `code` is the inside of the tag; a literal in it is written '0', '1', …: its place in `strings`. */
  | { kind: 'expression' | 'statement'; code: string; strings: string[] };

const opening = /\{%([-+]?)\s*raw\s*(?:-%\}\s*|%\})|\{([%{#])([-+]?)/g;
const rawEnd = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\}\n?)/g;
const commentEnd = /(?:\+#\}|-#\}\s*|#\}\n?)/g;
const statementEnd = /\+%\}|-%\}\s*|%\}\n?/y;
const expressionEnd = /-\}\}\s*|\}\}/y;
const literal = /'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"/y;
const space = /\s+/y;

/** A sticky or global pattern's match from `at` on. */
function matchFrom(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

const escape =
  /\\(?:(?<line>\n)|(?<octal>[0-7]{1,3})|x(?<x>[\da-fA-F]{2})|u(?<u>[\da-fA-F]{4})|U(?<U>[\da-fA-F]{8})|(?<letter>[\\'"abfnrtv]))/g;
const letters: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** Escapes that Python does not know stay as they are. */
function unescape(inner: string): string {
  return inner.replace(escape, (...match: unknown[]) => {
    const groups: unknown = match.at(-1);
    const { line, octal, x, u, U, letter } = groups as Record<string, string | undefined>;
    if (line !== undefined) return '';
    if (letter !== undefined) return letters.get(letter) ?? letter;
    return String.fromCodePoint(octal === undefined ? parseInt(x ?? u ?? U ?? '', 16) : parseInt(octal, 8));
  });
}

/** The text before a tag: `-` takes all white space from its end; a statement or comment takes its own indentation. */
function beforeTag(text: string, sign: string, isExpression: boolean, atLineStart: boolean): string {
  if (sign === '-') return strip(new Text(text), undefined, 'right').text;
  if (sign === '+' || isExpression) return text;
  const line = text.lastIndexOf('\n') + 1;
  const isIndentation = (line > 0 || atLineStart) && /^\s+$/.test(text.slice(line));
  return isIndentation ? text.slice(0, line) : text;
}

class Scanner {
  readonly #source: string;
  readonly #pieces: Piece[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  pieces(): Piece[] {
    while (this.#at < this.#source.length) {
      const tag = matchFrom(opening, this.#source, this.#at);
      const end = tag?.index ?? this.#source.length;
      const [, rawSign, kind, sign = rawSign ?? ''] = tag ?? [];
      this.#text(end, tag === null ? '+' : sign, kind === '{');
      if (tag === null) break;
      this.#at = end + tag[0].length;
      if (kind === undefined) this.#raw();
      else if (kind === '#') this.#comment();
      else this.#tag(kind === '{' ? 'expression' : 'statement');
    }
    return this.#pieces;
  }

  #text(end: number, sign: string, isExpression: boolean): void {
    const atLineStart = this.#at === 0 || this.#source[this.#at - 1] === '\n';
    const text = beforeTag(this.#source.slice(this.#at, end), sign, isExpression, atLineStart);
    if (text !== '') this.#pieces.push({ kind: 'text', text });
  }

  #raw(): void {
    const end = matchFrom(rawEnd, this.#source, this.#at);
    if (!end) throw failure('{% raw %} without {% endraw %}');
    this.#text(end.index, end[1] ?? '', false);
    this.#at = end.index + end[0].length;
  }

  #comment(): void {
    const end = matchFrom(commentEnd, this.#source, this.#at);
    if (!end) throw failure('a comment without its end #}');
    this.#at = end.index + end[0].length;
  }

  #tag(kind: 'expression' | 'statement'): void {
    const ending = kind === 'expression' ? expressionEnd : statementEnd;
    const strings: string[] = [];
    const code: string[] = [];
    let depth = 0;
    for (;;) {
      const end = depth === 0 ? matchFrom(ending, this.#source, this.#at) : null;
      if (end) {
        this.#at += end[0].length;
        this.#pieces.push({ kind, code: code.join(''), strings });
        return;
      }
      const quoted = matchFrom(literal, this.#source, this.#at);
      const blank = quoted ? null : matchFrom(space, this.#source, this.#at);
      const character = this.#source[this.#at];
      if (character === undefined) throw failure('a tag without its end');
      if (quoted) {
        code.push(`'${strings.length}'`);
        strings.push(unescape(quoted[1] ?? quoted[2] ?? ''));
      } else {
        code.push(blank ? ' ' : character);
        if ('([{'.includes(character)) depth += 1;
        if (')]}'.includes(character)) depth -= 1;
      }
      this.#at += (quoted ?? blank)?.[0].length ?? 1;
    }
  }
}

/** Line ends become \n, and one at the very end is dropped. */
export function scan(source: string): Piece[] {
  return new Scanner(source.replace(/\r\n?/g, '\n').replace(/\n$/, '')).pieces();
}

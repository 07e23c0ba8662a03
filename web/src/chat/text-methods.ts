// SPDX-License-Identifier: MIT
// Python's str methods. Whatever is cut out of a text keeps track of where it came from.

import { checkItems, failure, maxItems, type Budget } from './failure.js';
import { formatBraces } from './format.js';
import { slice } from './slices.js';
import { Text, TextBuilder, concat } from './text.js';
import {
  bind,
  characters,
  isInteger,
  iterate,
  lengthOf,
  list,
  Sequence,
  truthy,
  tuple,
  typeName,
  Undefined,
  type Arguments,
  type Value,
} from './values.js';

type TextMethod = (self: Text, args: Arguments, budget: Budget) => Value;

// What str.isspace() and strip() call white space; JavaScript's \s differs.
const spaces = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const isSpace = new RegExp(`^[${spaces}]$`);
const words = new RegExp(`[^${spaces}]+`, 'g');
const lineEnds = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

export function needText(value: Value | undefined, what: string): Text {
  if (value instanceof Text) return value;
  if (value instanceof Undefined) throw failure(value.hint);
  throw failure(`${what} must be a str, not ${value === undefined ? 'missing' : typeName(value)}`);
}

function needCount(value: Value | undefined, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (!isInteger(value)) throw failure(`'${typeName(value)}' object cannot be interpreted as an integer`);
  return Number(value);
}

export function strip(self: Text, chars: Value | undefined, side: 'left' | 'right' | 'both' = 'both'): Text {
  const set = chars === undefined || chars === null ? null : new Set(needText(chars, 'strip arg').text);
  const isCut = (character: string): boolean => (set === null ? isSpace.test(character) : set.has(character));
  const { text } = self;
  let start = 0;
  let end = text.length;
  while (side !== 'right' && start < end) {
    const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
    if (!isCut(character)) break;
    start += character.length;
  }
  while (side !== 'left' && end > start) {
    const pair = text.slice(Math.max(start, end - 2), end);
    const character = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(pair) ? pair : text.slice(end - 1, end);
    if (!isCut(character)) break;
    end -= character.length;
  }
  return self.slice(start, end);
}

export function splitLines(self: Text, keepEnds = false): Text[] {
  const lines: Text[] = [];
  let at = 0;
  for (const match of self.text.matchAll(lineEnds)) {
    const end = match.index + match[0].length;
    lines.push(self.slice(at, keepEnds ? end : match.index));
    at = end;
    checkItems(lines.length);
  }
  if (at < self.length) lines.push(self.slice(at));
  return lines;
}

/** At most `most` cuts; all if negative. */
function splitAt(self: Text, separator: Text, most: number): Text[] {
  if (separator.length === 0) throw failure('empty separator');
  const pieces: Text[] = [];
  let at = 0;
  while (most < 0 || pieces.length < most) {
    const found = self.text.indexOf(separator.text, at);
    if (found < 0) break;
    pieces.push(self.slice(at, found));
    at = found + separator.length;
    checkItems(pieces.length);
  }
  return [...pieces, self.slice(at)];
}

function splitAtFromRight(self: Text, separator: Text, most: number): Text[] {
  if (separator.length === 0) throw failure('empty separator');
  const pieces: Text[] = [];
  let end = self.length;
  while (most < 0 || pieces.length < most) {
    const found = end < separator.length ? -1 : self.text.lastIndexOf(separator.text, end - separator.length);
    if (found < 0) break;
    pieces.push(self.slice(found + separator.length, end));
    end = found;
    checkItems(pieces.length);
  }
  return [...pieces, self.slice(0, end)].reverse();
}

function splitAtSpaces(self: Text, most: number, fromRight: boolean): Text[] {
  const found = Array.from(self.text.matchAll(words), ({ index, 0: word }) => ({
    index,
    end: index + word.length,
  }));
  checkItems(found.length);
  if (most < 0 || found.length <= most) {
    return found.map(({ index, end }) => self.slice(index, end));
  }
  if (fromRight) {
    const rest = self.slice(0, found[found.length - most - 1]?.end ?? 0);
    const last = most === 0 ? [] : found.slice(-most).map(({ index, end }) => self.slice(index, end));
    return [rest, ...last];
  }
  const rest = self.slice(found[most]?.index ?? 0);
  return [...found.slice(0, most).map(({ index, end }) => self.slice(index, end)), rest];
}

const split =
  (name: string, fromRight: boolean): TextMethod =>
  (self, args) => {
    const [separator = null, maxSplit] = bind(name, args, ['sep', 'maxsplit']);
    const most = needCount(maxSplit, -1);
    if (separator === null) return list(splitAtSpaces(self, most, fromRight));
    return list((fromRight ? splitAtFromRight : splitAt)(self, needText(separator, 'sep'), most));
  };

export function replaceText(self: Text, from: Text, to: Text, most: number): Text {
  const out = new TextBuilder();
  if (from.length === 0) {
    const all = characters(self);
    const count = most < 0 ? all.length + 1 : most;
    all.forEach((character, index) => out.add(index < count ? to : Text.empty).add(character));
    return out.add(all.length < count ? to : Text.empty).done();
  }
  splitAt(self, from, most < 0 ? maxItems : most).forEach((piece, index) => {
    out.add(index > 0 ? to : Text.empty).add(piece);
  });
  return out.done();
}

/** A text whose letters are changed one by one; all of it is untrusted when its length changes. */
function recase(self: Text, change: (text: string) => string): Text {
  const changed = change(self.text);
  return changed.length === self.length ? new Text(changed, self.untrusted) : Text.madeFrom(changed, self);
}

export const upper = (self: Text): Text => recase(self, (text) => text.toUpperCase());
export const lower = (self: Text): Text => recase(self, (text) => text.toLowerCase());
export const capitalize = (self: Text): Text =>
  recase(self, (text) => {
    const [first = ''] = text;
    return first.toUpperCase() + text.slice(first.length).toLowerCase();
  });

/** Letters after a letter become small, others big. */
const titleCase = (text: string): string =>
  text.replace(/\p{Cased}+/gu, (word) => {
    const [first = ''] = word;
    return first.toUpperCase() + word.slice(first.length).toLowerCase();
  });

const swapCase = (text: string): string =>
  text.replace(/\p{Lu}+|\p{Ll}+/gu, (run) => (/^\p{Lu}/u.test(run) ? run.toLowerCase() : run.toUpperCase()));

/** str.islower() or isupper(): some letter has a case, and none has another. */
export function hasCase(self: Text, wanted: 'lower' | 'upper'): boolean {
  return wanted === 'lower'
    ? /\p{Lowercase}/u.test(self.text) && !/[\p{Lu}\p{Lt}]/u.test(self.text)
    : /\p{Uppercase}/u.test(self.text) && !/[\p{Ll}\p{Lt}]/u.test(self.text);
}

/** The part from `start` to `stop` that startswith, find and count look at. */
function part(self: Text, start: Value | undefined, stop: Value | undefined): Text {
  return needText(slice(self, start, stop, undefined), 'text');
}

const affix =
  (name: 'startsWith' | 'endsWith'): TextMethod =>
  (self, args) => {
    const [wanted, start, stop] = bind(name.toLowerCase(), args, ['prefix', 'start', 'end']);
    const { text } = part(self, start, stop);
    const candidates = wanted instanceof Sequence && wanted.kind === 'tuple' ? wanted.items : [wanted];
    return candidates.some((one) => text[name](needText(one, `${name.toLowerCase()} first arg`).text));
  };

const find =
  (name: string, search: 'indexOf' | 'lastIndexOf', mustExist: boolean): TextMethod =>
  (self, args) => {
    const [wanted, start, stop] = bind(name, args, ['sub', 'start', 'end']);
    const looked = part(self, start, stop);
    const at = looked.text[search](needText(wanted, 'sub').text);
    if (at < 0) {
      if (mustExist) throw failure('substring not found');
      return -1;
    }
    const before = start === undefined ? 0 : lengthOf(self) - lengthOf(part(self, start, undefined));
    return before + lengthOf(looked.slice(0, at));
  };

const partition =
  (name: string, search: 'indexOf' | 'lastIndexOf'): TextMethod =>
  (self, args) => {
    const separator = needText(bind(name, args, ['sep'])[0], 'sep');
    if (separator.length === 0) throw failure('empty separator');
    const at = self.text[search](separator.text);
    if (at < 0) {
      return search === 'indexOf' ? tuple(self, Text.empty, Text.empty) : tuple(Text.empty, Text.empty, self);
    }
    const end = at + separator.length;
    return tuple(self.slice(0, at), self.slice(at, end), self.slice(end));
  };

/** Fills up to a width: `left` of the missing characters go before the text. */
function padded(self: Text, width: number, fill: Text, left: (missing: number) => number): Text {
  const missing = Math.max(0, width - lengthOf(self));
  const before = left(missing);
  return concat(fill.repeat(before), self, fill.repeat(missing - before));
}

/** Python gives the odd space to the left of a text of odd length, else to the right. */
export const centered = (self: Text, width: number, fill: Text): Text =>
  padded(self, width, fill, (missing) => Math.floor(missing / 2) + (missing & width & 1));

const pad =
  (name: string, left: (missing: number) => number): TextMethod =>
  (self, args) => {
    const [width, fill = new Text(' ')] = bind(name, args, ['width', 'fillchar']);
    return padded(self, needCount(width, 0), needText(fill, 'fillchar'), left);
  };

const stripMethod =
  (name: string, side: 'left' | 'right' | 'both'): TextMethod =>
  (self, args) =>
    strip(self, bind(name, args, ['chars'])[0], side);

const check =
  (pattern: RegExp): TextMethod =>
  (self) =>
    pattern.test(self.text);

function zeroFilled(self: Text, width: number): Text {
  const sign = /^[+-]/.test(self.text) ? 1 : 0;
  const zeros = new Text('0').repeat(Math.max(0, width - lengthOf(self)));
  return concat(self.slice(0, sign), zeros, self.slice(sign));
}

function expandTabs(self: Text, size: number): Text {
  let column = 0;
  return self.mapMatches(/[^\t\n\r]+|[\t\n\r]/g, (run) => {
    if (run !== '\t') {
      column = run === '\n' || run === '\r' ? 0 : column + lengthOf(new Text(run));
      return run;
    }
    const gap = size > 0 ? size - (column % size) : 0;
    column += gap;
    return new Text(' ').repeat(gap).text;
  });
}

export function joined(separator: Text, items: readonly Text[]): Text {
  const out = new TextBuilder();
  items.forEach((item, index) => out.add(index > 0 ? separator : Text.empty).add(item));
  return out.done();
}

export const textMethods: ReadonlyMap<string, TextMethod> = new Map<string, TextMethod>([
  ['strip', stripMethod('strip', 'both')],
  ['lstrip', stripMethod('lstrip', 'left')],
  ['rstrip', stripMethod('rstrip', 'right')],
  ['split', split('split', false)],
  ['rsplit', split('rsplit', true)],
  [
    'splitlines',
    (self, args) => list(splitLines(self, truthy(bind('splitlines', args, ['keepends'])[0] ?? false))),
  ],
  ['partition', partition('partition', 'indexOf')],
  ['rpartition', partition('rpartition', 'lastIndexOf')],
  ['startswith', affix('startsWith')],
  ['endswith', affix('endsWith')],
  ['find', find('find', 'indexOf', false)],
  ['rfind', find('rfind', 'lastIndexOf', false)],
  ['index', find('index', 'indexOf', true)],
  ['rindex', find('rindex', 'lastIndexOf', true)],
  [
    'count',
    (self, args) => {
      const [wanted, start, stop] = bind('count', args, ['sub', 'start', 'end']);
      const looked = part(self, start, stop);
      const { text } = needText(wanted, 'sub');
      return text === '' ? lengthOf(looked) + 1 : splitAt(looked, new Text(text), -1).length - 1;
    },
  ],
  [
    'replace',
    (self, args) => {
      const [from, to, count] = bind('replace', args, ['old', 'new', 'count']);
      return replaceText(self, needText(from, 'old'), needText(to, 'new'), needCount(count, -1));
    },
  ],
  [
    'removeprefix',
    (self, args) => {
      const prefix = needText(bind('removeprefix', args, ['prefix'])[0], 'prefix');
      return self.text.startsWith(prefix.text) ? self.slice(prefix.length) : self;
    },
  ],
  [
    'removesuffix',
    (self, args) => {
      const suffix = needText(bind('removesuffix', args, ['suffix'])[0], 'suffix');
      return self.text.endsWith(suffix.text) ? self.slice(0, self.length - suffix.length) : self;
    },
  ],
  [
    'join',
    (self, args, budget) => {
      const [items = null] = bind('join', args, ['iterable']);
      return joined(
        self,
        iterate(items, budget).map((item) => needText(item, 'sequence item')),
      );
    },
  ],
  ['format', (self, args) => formatBraces(self, args)],
  ['upper', upper],
  ['lower', lower],
  ['casefold', (self) => recase(self, (text) => text.toLowerCase().replaceAll('ß', 'ss'))],
  ['capitalize', capitalize],
  ['title', (self) => recase(self, titleCase)],
  ['swapcase', (self) => recase(self, swapCase)],
  [
    'center',
    (self, args) => {
      const [width, fill = new Text(' ')] = bind('center', args, ['width', 'fillchar']);
      return centered(self, needCount(width, 0), needText(fill, 'fillchar'));
    },
  ],
  ['ljust', pad('ljust', () => 0)],
  ['rjust', pad('rjust', (missing) => missing)],
  ['zfill', (self, args) => zeroFilled(self, needCount(bind('zfill', args, ['width'])[0], 0))],
  ['expandtabs', (self, args) => expandTabs(self, needCount(bind('expandtabs', args, ['tabsize'])[0], 8))],
  ['isalpha', check(/^\p{L}+$/u)],
  ['isalnum', check(/^[\p{L}\p{N}]+$/u)],
  ['isdigit', check(/^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+$/u)],
  ['isdecimal', check(/^\p{Nd}+$/u)],
  ['isnumeric', check(/^\p{N}+$/u)],
  ['isascii', check(/^[\x00-\x7f]*$/)],
  ['isidentifier', check(/^[\p{ID_Start}_]\p{ID_Continue}*$/u)],
  ['isspace', check(new RegExp(`^[${spaces}]+$`))],
  ['islower', (self) => hasCase(self, 'lower')],
  ['isupper', (self) => hasCase(self, 'upper')],
  ['istitle', (self) => /\p{Cased}/u.test(self.text) && titleCase(self.text) === self.text],
]);

// SPDX-License-Identifier: MIT
// Jinja's filters on single values: text, numbers, JSON. Those on lists are in list-filters.ts.

import { checkItems, failure, type Budget } from './failure.js';
import { fixed, formatPercent } from './format.js';
import { listFilters } from './list-filters.js';
import { methodOf } from './methods.js';
import { JsonWriter, toText } from './print.js';
import {
  capitalize,
  centered,
  lower,
  needText,
  replaceText,
  splitLines,
  strip,
  upper,
} from './text-methods.js';
import { concat, Text, TextBuilder } from './text.js';
import {
  bind,
  Dict,
  Float,
  integer,
  isInteger,
  lengthOf,
  numberOf,
  Sequence,
  truthy,
  tuple,
  typeName,
  Undefined,
  type Arguments,
  type Value,
} from './values.js';

/** What filters and tests may ask of the running template. */
export interface Runtime {
  budget: Budget;
  filter(name: string, value: Value, args: Arguments): Value;
  test(name: string, value: Value, args: Arguments): boolean;
}

export type Filter = (value: Value, args: Arguments, runtime: Runtime) => Value;

const onText =
  (change: (text: Text) => Text): Filter =>
  (value) =>
    change(toText(value));

function toJson(value: Value, args: Arguments, { budget }: Runtime): Text {
  const [ascii = false, indent = null, separators = null, sortKeys = false] = bind('tojson', args, [
    'ensure_ascii',
    'indent',
    'separators',
    'sort_keys',
  ]);
  const width =
    indent === null ? null : indent instanceof Text ? indent.text : ' '.repeat(widthOf(indent, 0));
  const [item, key] = separators instanceof Sequence ? separators.items : [];
  const writer = new JsonWriter(
    {
      ensureAscii: truthy(ascii),
      indent: width,
      separators: [
        separators === null ? new Text(width === null ? ', ' : ',') : needText(item, 'separator'),
        separators === null ? new Text(': ') : needText(key, 'separator'),
      ],
      sortKeys: truthy(sortKeys),
    },
    budget,
  );
  return writer.text(value);
}

/** A number of characters or items. */
function widthOf(value: Value | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (!isInteger(value)) throw failure(`a number is needed, not '${typeName(value)}'`);
  checkItems(Number(value));
  return Math.max(0, Number(value));
}

const indentText: Filter = (value, args) => {
  const [width, first = false, blank = false] = bind('indent', args, ['width', 'first', 'blank']);
  const margin = width instanceof Text ? width : new Text(' ').repeat(widthOf(width, 4));
  const whole = needText(value, 'the value of indent');
  const out = new TextBuilder();
  splitLines(concat(whole, new Text('\n'))).forEach((line, index) => {
    const isMoved = index === 0 ? truthy(first) : truthy(blank) || line.length > 0;
    out.addString(index > 0 ? '\n' : '');
    out.add(isMoved ? margin : Text.empty).add(line);
  });
  return out.done();
};

/** Jinja's own title case: words begin after white space and after ( { [ < and -. */
const titleWords = (text: Text): Text =>
  text.mapMatches(/[^-\s({[<]+/g, (word) => {
    const [first = ''] = word;
    return first.toUpperCase() + word.slice(first.length).toLowerCase();
  });

const htmlEscapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ["'", '&#39;'],
  ['"', '&#34;'],
]);
const escapeHtml = (text: Text): Text =>
  text.mapMatches(/[&<>'"]/g, (found) => htmlEscapes.get(found) ?? found);

/** What int() and float() read. */
const integerPattern = /^[+-]?\d+(?:_\d+)*$/;
const floatPattern = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+)?$/i;

function parseFloatText(text: string): number | null {
  const trimmed = strip(new Text(text), undefined).text;
  if (floatPattern.test(trimmed)) return Number(trimmed.replaceAll('_', ''));
  const special = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(trimmed);
  if (!special) return null;
  return special[2]?.toLowerCase() === 'nan' ? NaN : special[1] === '-' ? -Infinity : Infinity;
}

const bases = new Map([
  [2, /^([+-]?)(?:0b)?([01]+)$/i],
  [8, /^([+-]?)(?:0o)?([0-7]+)$/i],
  [16, /^([+-]?)(?:0x)?([\da-f]+)$/i],
]);

function parseInteger(text: string, base: number): number | null {
  const trimmed = strip(new Text(text), undefined).text;
  const match = bases.get(base)?.exec(trimmed);
  if (match) return integer((match[1] === '-' ? -1 : 1) * parseInt(match[2] ?? '', base));
  if (base === 10 && integerPattern.test(trimmed)) return integer(Number(trimmed.replaceAll('_', '')));
  const number = parseFloatText(text);
  return number === null || !Number.isFinite(number) ? null : integer(Math.trunc(number));
}

const toInteger: Filter = (value, args) => {
  const [fallback = 0, base = 10] = bind('int', args, ['default', 'base']);
  if (value instanceof Text) return parseInteger(value.text, numberOf(base) ?? 10) ?? fallback;
  if (value instanceof Undefined) throw failure(value.hint);
  const number = numberOf(value);
  return number === null || !Number.isFinite(number) ? fallback : integer(Math.trunc(number));
};

const toFloat: Filter = (value, args) => {
  const [fallback = new Float(0)] = bind('float', args, ['default']);
  if (value instanceof Undefined) throw failure(value.hint);
  const number = value instanceof Text ? parseFloatText(value.text) : numberOf(value);
  return number === null ? fallback : new Float(number);
};

function roundHalfEven(value: number, digits: number): number {
  if (!Number.isFinite(value)) return value;
  if (digits >= 0) return Number(fixed(value, digits));
  const scale = 10 ** -digits;
  return Number(fixed(value / scale, 0)) * scale;
}

const round: Filter = (value, args) => {
  const [precision = 0, method = new Text('common')] = bind('round', args, ['precision', 'method']);
  const number = numberOf(value);
  const digits = numberOf(precision);
  if (number === null || digits === null) throw failure(`round: '${typeName(value)}' is no number`);
  const { text } = needText(method, 'method');
  if (text === 'common') {
    const rounded = roundHalfEven(number, digits);
    return value instanceof Float ? new Float(rounded) : integer(rounded);
  }
  if (text !== 'ceil' && text !== 'floor') throw failure('method must be common, ceil or floor');
  return new Float(Math[text](number * 10 ** digits) / 10 ** digits);
};

const absolute: Filter = (value) => {
  const number = numberOf(value);
  if (number === null) throw failure(`bad operand type for abs(): '${typeName(value)}'`);
  return value instanceof Float ? new Float(Math.abs(number)) : integer(Math.abs(number));
};

const truncate: Filter = (value, args) => {
  const [length, killWords = false, end = new Text('...'), leeway] = bind('truncate', args, [
    'length',
    'killwords',
    'end',
    'leeway',
  ]);
  const size = widthOf(length, 255);
  if (lengthOf(value) <= size + widthOf(leeway, 5)) return value;
  const text = needText(value, 'the value of truncate');
  const tail = needText(end, 'end');
  const cut = text.slice(0, size - tail.length);
  const lastSpace = truthy(killWords) ? -1 : cut.text.lastIndexOf(' ');
  return concat(lastSpace < 0 ? cut : cut.slice(0, lastSpace), tail);
};

const urlEncode = (text: Text): Text =>
  text.mapMatches(/[^\w.~/-]/gu, (found) =>
    /[!'()*]/.test(found)
      ? `%${found.charCodeAt(0).toString(16).toUpperCase()}`
      : encodeURIComponent(found.replace(/[\uD800-\uDFFF]/u, '?')),
  );

const fallback: Filter = (value, args) => {
  const [instead = Text.empty, alsoFalse = false] = bind('default', args, ['default_value', 'boolean']);
  return value instanceof Undefined || (truthy(alsoFalse) && !truthy(value)) ? instead : value;
};

const escape = onText(escapeHtml);
const length: Filter = (value) => lengthOf(value);

export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...listFilters,
  ['abs', absolute],
  [
    'attr',
    (value, args, { budget }) => {
      const name = needText(bind('attr', args, ['name'])[0], 'name');
      return methodOf(value, name.text, budget) ?? new Undefined(`no attribute '${name.text}'`);
    },
  ],
  ['capitalize', onText(capitalize)],
  [
    'center',
    (value, args) => centered(toText(value), widthOf(bind('center', args, ['width'])[0], 80), new Text(' ')),
  ],
  ['count', length],
  ['d', fallback],
  ['default', fallback],
  ['e', escape],
  ['escape', escape],
  ['float', toFloat],
  ['forceescape', escape],
  [
    'format',
    (value, { positional, named }) => {
      const dict = new Dict();
      named.forEach((item, key) => dict.set(new Text(key), item));
      return formatPercent(toText(value), named.size > 0 ? dict : tuple(...positional));
    },
  ],
  ['indent', indentText],
  ['int', toInteger],
  ['length', length],
  ['lower', onText(lower)],
  [
    'replace',
    (value, args) => {
      const [from = null, to = null, count] = bind('replace', args, ['old', 'new', 'count']);
      const most = count === undefined || count === null ? -1 : (numberOf(count) ?? -1);
      return replaceText(toText(value), toText(from), toText(to), most);
    },
  ],
  ['round', round],
  ['safe', onText((text) => text)],
  ['string', onText((text) => text)],
  ['title', onText(titleWords)],
  ['tojson', toJson],
  ['trim', (value, args) => strip(toText(value), bind('trim', args, ['chars'])[0])],
  ['truncate', truncate],
  ['upper', onText(upper)],
  ['urlencode', onText(urlEncode)],
  ['wordcount', (value) => (toText(value).text.match(/[\p{L}\p{N}_]+/gu) ?? []).length],
]);

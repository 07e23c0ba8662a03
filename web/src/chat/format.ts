// SPDX-License-Identifier: MIT
// Python's two ways to fill in a text: 'a %s' % b, and 'a {}'.format(b).

import { failure } from './failure.js';
import { repr, toText } from './print.js';
import { concat, Text, TextBuilder } from './text.js';
import {
  Dict,
  Float,
  integer,
  lengthOf,
  numberOf,
  Sequence,
  typeName,
  Undefined,
  type Arguments,
  type Value,
} from './values.js';

interface Layout {
  type: string;
  width: number;
  precision: number | null;
  /** '<' left, '>' right, '^' centre, '=' after the sign. */
  align: string;
  fill: string;
  sign: string;
  alternate: boolean;
  grouped: boolean;
}

function laidOut(sign: string, body: Text, { align, fill, width }: Layout): Text {
  const missing = Math.max(0, width - sign.length - lengthOf(body));
  const left = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing;
  const padding = new Text(fill).repeat(left);
  const signed = new Text(sign);
  const begin = align === '=' ? concat(signed, padding) : concat(padding, signed);
  return concat(begin, body, new Text(fill).repeat(missing - left));
}

function exponential(size: number, precision: number): string {
  return size.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
}

function general(size: number, precision: number): string {
  const digits = Math.max(1, precision);
  const exponent = size === 0 ? 0 : Number(size.toExponential(digits - 1).split('e')[1]);
  const text =
    exponent < -4 || exponent >= digits ? exponential(size, digits - 1) : size.toFixed(digits - 1 - exponent);
  return text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '');
}

/** Decimal places, rounded from the exact value; where that is halfway, to the even digit. */
export function fixed(value: number, places: number): string {
  const most = Math.min(places, 100);
  const exact = value.toFixed(Math.min(100, most + 60));
  const point = exact.indexOf('.');
  const kept = point < 0 ? exact : exact.slice(0, point + most + 1).replace(/\.$/, '');
  const isHalfway = point >= 0 && /^50*$/.test(exact.slice(point + most + 1));
  return isHalfway && /[02468]$/.test(kept) ? kept : value.toFixed(most);
}

function digitsOf(value: number, { type, precision, alternate, grouped }: Layout): string {
  const size = Math.abs(value);
  const places = Math.min(precision ?? 6, 100);
  const group = (text: string): string => (grouped ? text.replace(/\B(?=(\d{3})+(?!\d))/g, ',') : text);
  switch (type) {
    case 'd': {
      return group(String(integer(Math.trunc(size)))).padStart(Math.min(precision ?? 0, 100), '0');
    }
    case 'x':
    case 'X':
    case 'o':
    case 'b': {
      const base = type === 'o' ? 8 : type === 'b' ? 2 : 16;
      const text = `${alternate ? `0${type}` : ''}${integer(size).toString(base)}`;
      return type === 'X' ? text.toUpperCase() : text;
    }
    case 'f':
    case 'F': {
      const [whole = '', fraction] = fixed(size, places).split('.');
      return fraction === undefined ? group(whole) : `${group(whole)}.${fraction}`;
    }
    case 'e':
    case 'E': {
      const text = exponential(size, places);
      return type === 'E' ? text.toUpperCase() : text;
    }
    case 'g':
    case 'G':
      return general(size, places);
    case '%':
      return `${fixed(size * 100, places)}%`;
    default:
      throw failure(`unknown format code '${type}'`);
  }
}

function formatNumber(value: number, layout: Layout): Text {
  const negative = value < 0 || Object.is(value, -0);
  const sign = negative ? '-' : layout.sign === '-' ? '' : layout.sign;
  return laidOut(sign, new Text(digitsOf(value, layout)), layout);
}

const percentDirective =
  /%(?:\((?<key>[^)]*)\))?(?<flags>[#0\- +]*)(?<width>\*|\d+)?(?:\.(?<precision>\*|\d*))?[hlL]?(?<type>[\s\S])/g;

/** Takes the arguments of one formatting in order. */
class Supply {
  readonly #values: Value;
  readonly #items: readonly Value[];
  #next = 0;

  constructor(values: Value) {
    this.#values = values;
    this.#items = values instanceof Sequence && values.kind === 'tuple' ? values.items : [values];
  }

  next(): Value {
    const item = this.#items[this.#next++];
    if (item === undefined) throw failure('not enough arguments for format string');
    return item;
  }

  byKey(key: string): Value {
    const item = this.#values instanceof Dict ? this.#values.getText(key) : undefined;
    if (item === undefined) throw failure(`format requires a mapping with key '${key}'`);
    return item;
  }

  number(text: string | undefined): number | null {
    if (text === undefined) return null;
    return text === '*' ? (numberOf(this.next()) ?? 0) : Number(text);
  }

  checkAllUsed(): void {
    // Whatever has subscripts, other than a tuple or a text, passes for a mapping, whose items need not be used.
    const values = this.#values;
    const isMapping =
      values instanceof Dict ||
      values instanceof Undefined ||
      (values instanceof Sequence && values.kind !== 'tuple' && !values.isView);
    if (!isMapping && this.#next < this.#items.length) {
      throw failure('not all arguments converted during string formatting');
    }
  }
}

export function formatPercent(format: Text, values: Value): Text {
  const supply = new Supply(values);
  const out = new TextBuilder();
  let at = 0;
  for (const match of format.text.matchAll(percentDirective)) {
    out.add(format.slice(at, match.index));
    at = match.index + match[0].length;
    const { key, flags = '', width, precision, type = '' } = match.groups ?? {};
    if (type === '%') {
      out.addString('%');
      continue;
    }
    const left = flags.includes('-');
    const isNumber = 'diufFeEgGxXo'.includes(type);
    const layout: Layout = {
      type: type === 'i' || type === 'u' ? 'd' : type,
      width: supply.number(width) ?? 0,
      precision: supply.number(precision),
      align: left ? '<' : isNumber && flags.includes('0') ? '=' : '>',
      fill: isNumber && flags.includes('0') && !left ? '0' : ' ',
      sign: flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '',
      alternate: flags.includes('#'),
      grouped: false,
    };
    const value = key === undefined ? supply.next() : supply.byKey(key);
    out.add(isNumber ? formatNumber(needNumber(value, type), layout) : formatPlain(value, layout));
  }
  supply.checkAllUsed();
  return out.add(format.slice(at)).done();
}

function needNumber(value: Value, type: string): number {
  const number = numberOf(value);
  if (number === null) throw failure(`%${type} format: a number is required, not ${typeName(value)}`);
  return number;
}

function formatPlain(value: Value, layout: Layout): Text {
  if (layout.type !== 's' && layout.type !== 'r') {
    throw failure(`unsupported format character '${layout.type}'`);
  }
  const text = layout.type === 's' ? toText(value) : repr(value);
  return laidOut('', layout.precision === null ? text : text.slice(0, layout.precision), layout);
}

const braces = /\{\{|\}\}|\{(?<name>[^{}!:]*)(?:!(?<conversion>[rs]))?(?::(?<spec>[^{}]*))?\}|[{}]/g;
const specPattern =
  /^(?:(?<fill>[\s\S])?(?<align>[<>^=]))?(?<sign>[-+ ])?(?<alternate>#)?(?<zero>0)?(?<width>\d+)?(?<comma>,)?(?:\.(?<precision>\d+))?(?<type>[a-zA-Z%])?$/u;

/** str.format. Fields are names and positions; `{0.name}` is not offered. */
export function formatBraces(format: Text, { positional, named }: Arguments): Text {
  const out = new TextBuilder();
  let at = 0;
  let automatic = 0;
  for (const match of format.text.matchAll(braces)) {
    out.add(format.slice(at, match.index));
    at = match.index + match[0].length;
    const { name, conversion, spec = '' } = match.groups ?? {};
    if (name === undefined) {
      if (match[0].length === 1) throw failure(`single '${match[0]}' in format string`);
      out.addString(match[0].slice(1));
      continue;
    }
    const index = name === '' ? automatic++ : Number(name);
    const value = Number.isNaN(index) ? named.get(name) : positional[index];
    if (value === undefined) throw failure(`format() lacks the argument '${name || index}'`);
    out.add(formatField(conversion === 'r' ? repr(value) : value, spec));
  }
  return out.add(format.slice(at)).done();
}

function formatField(value: Value, spec: string): Text {
  const groups = specPattern.exec(spec)?.groups;
  if (!groups) throw failure(`invalid format specifier '${spec}'`);
  const number = value instanceof Undefined || value instanceof Text ? null : numberOf(value);
  if (spec === '' || number === null) {
    const text = toText(value);
    const cut = groups['precision'] === undefined ? text : text.slice(0, Number(groups['precision']));
    return laidOut('', cut, layoutOf(groups, 's', '<'));
  }
  const fallback = value instanceof Float ? (groups['precision'] === undefined ? '' : 'g') : 'd';
  const type = groups['type'] ?? fallback;
  const layout = layoutOf(groups, type, groups['zero'] === undefined ? '>' : '=');
  return type === '' ? laidOut('', toText(value), layout) : formatNumber(number, layout);
}

function layoutOf(groups: Record<string, string | undefined>, type: string, align: string): Layout {
  const { precision } = groups;
  return {
    type,
    width: Number(groups['width'] ?? 0),
    precision: precision === undefined ? null : Number(precision),
    align: groups['align'] ?? align,
    fill: groups['fill'] ?? (groups['zero'] === undefined ? ' ' : '0'),
    sign: groups['sign'] ?? '-',
    alternate: groups['alternate'] !== undefined,
    grouped: groups['comma'] !== undefined,
  };
}

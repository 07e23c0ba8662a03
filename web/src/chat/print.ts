// SPDX-License-Identifier: MIT
// Values as text: str() and repr() of Python, and tojson as transformers defines it.

import { compare } from './compare.js';
import { failure, type Budget } from './failure.js';
import { Text, TextBuilder } from './text.js';
import { Callable, Dict, Float, Sequence, typeName, Undefined, type Value } from './values.js';

/** As Python writes a float: shortest digits that read back, exponent from 1e16 and below 1e-4. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-4 && size < 1e16)) {
    const text = String(value);
    if (!text.includes('e')) {
      return text.includes('.') ? text : `${text}.0`;
    }
  }
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

export function toText(value: Value): Text {
  if (value instanceof Text) return value;
  if (value instanceof Undefined) return Text.empty;
  return repr(value);
}

export function repr(value: Value): Text {
  const out = new TextBuilder();
  writeRepr(value, out);
  return out.done();
}

// Characters that Python does not print as they are (a space is printed).
const unprintable = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/gu;
const shortEscapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  [' ', ' '],
]);

function hexEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

function writeQuoted(value: Text, out: TextBuilder): void {
  const quote = value.text.includes("'") && !value.text.includes('"') ? '"' : "'";
  let inner = value.mapMatches(unprintable, (found) => shortEscapes.get(found) ?? hexEscape(found));
  if (quote === "'") {
    inner = inner.mapMatches(/'/g, () => "\\'");
  }
  out.addString(quote).add(inner).addString(quote);
}

function writeRepr(value: Value, out: TextBuilder): void {
  if (value === null) out.addString('None');
  else if (typeof value === 'boolean') out.addString(value ? 'True' : 'False');
  else if (typeof value === 'number') out.addString(String(value));
  else if (value instanceof Float) out.addString(floatText(value.value));
  else if (value instanceof Text) writeQuoted(value, out);
  else if (value instanceof Undefined) out.addString('Undefined');
  else if (value instanceof Dict) {
    writeItems(value.entries(), '{', '}', out, ([key, item]) => {
      writeRepr(key, out);
      out.addString(': ');
      writeRepr(item, out);
    });
  } else if (value instanceof Sequence) writeSequence(value, out);
  else out.addString(`<${typeName(value)}${value instanceof Callable ? ` ${value.name}` : ' object'}>`);
}

function writeSequence({ kind, items }: Sequence, out: TextBuilder): void {
  const write = (item: Value): void => writeRepr(item, out);
  if (kind === 'list') writeItems(items, '[', ']', out, write);
  else if (kind === 'tuple') writeItems(items, '(', items.length === 1 ? ',)' : ')', out, write);
  else writeItems(items, `${kind}([`, '])', out, write);
}

function writeItems<T>(
  items: readonly T[],
  open: string,
  close: string,
  out: TextBuilder,
  write: (item: T) => void,
): void {
  out.addString(open);
  items.forEach((item, index) => {
    out.addString(index > 0 ? ', ' : '');
    write(item);
  });
  out.addString(close);
}

export interface JsonOptions {
  ensureAscii: boolean;
  /** null: one line. */
  indent: string | null;
  separators: readonly [Text, Text];
  sortKeys: boolean;
}

const jsonEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\b', '\\b'],
  ['\f', '\\f'],
]);

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** json.dumps. */
export class JsonWriter {
  readonly #options: JsonOptions;
  readonly #budget: Budget;
  readonly #out = new TextBuilder();

  constructor(options: JsonOptions, budget: Budget) {
    this.#options = options;
    this.#budget = budget;
  }

  text(value: Value): Text {
    this.#write(value, 0);
    return this.#out.done();
  }

  #write(value: Value, depth: number): void {
    if (value === null) this.#out.addString('null');
    else if (typeof value === 'boolean' || typeof value === 'number') this.#out.addString(String(value));
    else if (value instanceof Float) this.#out.addString(jsonFloat(value.value));
    else if (value instanceof Text) this.#writeText(value);
    else if (value instanceof Dict) this.#writeDict(value, depth);
    else if (value instanceof Sequence && (value.kind === 'list' || value.kind === 'tuple')) {
      this.#writeAll(value.items, '[', ']', depth, (item) => this.#write(item, depth + 1));
    } else throw failure(`Object of type ${typeName(value)} is not JSON serializable`);
  }

  #writeText(value: Text): void {
    const pattern = this.#options.ensureAscii ? /["\\]|[^ -~]/g : /["\\\u0000-\u001f]/g;
    const escaped = value.mapMatches(pattern, (unit) => jsonEscapes.get(unit) ?? unitEscape(unit));
    this.#out.addString('"').add(escaped).addString('"');
  }

  #writeDict(value: Dict, depth: number): void {
    const entries = value.entries();
    if (this.#options.sortKeys) {
      entries.sort(([a], [b]) => compare(a, b, this.#budget));
    }
    this.#writeAll(entries, '{', '}', depth, ([key, item]) => {
      this.#writeKey(key);
      this.#out.add(this.#options.separators[1]);
      this.#write(item, depth + 1);
    });
  }

  #writeKey(key: Value): void {
    if (key instanceof Text) {
      this.#writeText(key);
    } else if (key instanceof Sequence) {
      throw failure('keys must be str, int, float, bool or None, not tuple');
    } else {
      this.#out.addString('"');
      this.#write(key, 0);
      this.#out.addString('"');
    }
  }

  #writeAll<T>(
    items: readonly T[],
    open: string,
    close: string,
    depth: number,
    write: (item: T) => void,
  ): void {
    const { indent, separators } = this.#options;
    this.#out.addString(open);
    items.forEach((item, index) => {
      if (index > 0) this.#out.add(separators[0]);
      if (indent !== null) this.#out.addString('\n').add(new Text(indent).repeat(depth + 1));
      write(item);
    });
    if (indent !== null && items.length > 0) {
      this.#out.addString('\n').add(new Text(indent).repeat(depth));
    }
    this.#out.addString(close);
  }
}

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return floatText(value);
}

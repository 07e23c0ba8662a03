// SPDX-License-Identifier: MIT
// Values of a running template, with Python's meanings. Integers are JavaScript numbers, so those beyond 2^53 are
// refused; None is null. Nothing here is a JavaScript object with a prototype that a template could reach.

import { checkItems, failure, type Budget } from './failure.js';
import { Text } from './text.js';

export type Value =
  Undefined | null | boolean | number | Float | Text | Sequence | Generator | Dict | Callable | HostObject;

/** What a missing name, key or attribute gives. It prints as nothing; most other uses fail with `hint`. */
export class Undefined {
  readonly hint: string;

  constructor(hint: string) {
    this.hint = hint;
  }
}

export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** By Python's names of the types; the last three are the views that keys(), values() and items() of a dict give. */
export type SequenceKind = 'list' | 'tuple' | 'range' | 'dict_keys' | 'dict_values' | 'dict_items';

export class Sequence {
  readonly kind: SequenceKind;
  readonly items: readonly Value[];
  /** Names of the items, of a named tuple. */
  readonly fields: readonly string[];

  get isView(): boolean {
    return this.kind.startsWith('dict_');
  }

  constructor(kind: SequenceKind, items: readonly Value[], fields: readonly string[] = []) {
    checkItems(items.length);
    this.kind = kind;
    this.items = items;
    this.fields = fields;
  }
}

export const list = (items: readonly Value[]): Sequence => new Sequence('list', items);
export const tuple = (...items: readonly Value[]): Sequence => new Sequence('tuple', items);

/** What filters such as map and select give: made when it is gone through, which works once, and true even if empty. */
export class Generator {
  #make: () => readonly Value[];

  constructor(make: () => readonly Value[]) {
    this.#make = make;
  }

  take(): readonly Value[] {
    const make = this.#make;
    this.#make = () => [];
    return make();
  }
}

export class Dict {
  readonly #entries = new Map<string, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1];
  }

  getText(key: string): Value | undefined {
    return this.#entries.get(`s${key}`)?.[1];
  }

  set(key: Value, value: Value): this {
    const id = keyOf(key);
    // The first of two equal keys stays, as in Python.
    this.#entries.set(id, [this.#entries.get(id)?.[0] ?? key, value]);
    return this;
  }

  entries(): (readonly [Value, Value])[] {
    return [...this.#entries.values()];
  }

  keys(): Value[] {
    return this.entries().map(([key]) => key);
  }
}

/** Equal texts for equal keys: 1, 1.0 and True are one key. */
function keyOf(key: Value): string {
  if (key instanceof Text) {
    return `s${key.text}`;
  }
  const number = numberOf(key);
  if (number !== null) {
    return `n${number}`;
  }
  if (key === null) {
    return 'None';
  }
  if (key instanceof Sequence && key.kind === 'tuple') {
    return key.items.reduce((all: string, item) => {
      const id = keyOf(item);
      checkItems(all.length + id.length);
      return `${all}${id.length}:${id}`;
    }, 't');
  }
  if (key instanceof Undefined) return 'Undefined';
  throw failure(`unhashable type: '${typeName(key)}'`);
}

export interface Arguments {
  positional: readonly Value[];
  named: ReadonlyMap<string, Value>;
}

/** A function, a macro or a bound method. */
export class Callable {
  readonly name: string;
  readonly call: (args: Arguments) => Value;

  constructor(name: string, call: (args: Arguments) => Value) {
    this.name = name;
    this.call = call;
  }
}

/** An object with attributes only: a namespace, `loop`, a cycler. */
export class HostObject {
  readonly type: string;
  readonly attributes: Map<string, Value>;
  readonly call: ((args: Arguments) => Value) | null;

  constructor(
    type: string,
    attributes: Map<string, Value>,
    call: ((args: Arguments) => Value) | null = null,
  ) {
    this.type = type;
    this.attributes = attributes;
    this.call = call;
  }
}

/** The arguments by name, in the order of `names`; undefined where one was not given. */
export function bind(
  name: string,
  { positional, named }: Arguments,
  names: readonly string[],
): (Value | undefined)[] {
  if (positional.length > names.length) {
    throw failure(`${name}() takes at most ${names.length} arguments (${positional.length} given)`);
  }
  for (const key of named.keys()) {
    const at = names.indexOf(key);
    if (at < 0) {
      throw failure(`${name}() got an unexpected keyword argument '${key}'`);
    }
    if (at < positional.length) {
      throw failure(`${name}() got multiple values for argument '${key}'`);
    }
  }
  return names.map((key, index) => (index < positional.length ? positional[index] : named.get(key)));
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'int';
  if (value instanceof Float) return 'float';
  if (value instanceof Text) return 'str';
  if (value instanceof Dict) return 'dict';
  if (value instanceof Sequence) return value.kind;
  if (value instanceof Generator) return 'generator';
  if (value instanceof HostObject) return value.type;
  return value instanceof Callable ? 'function' : 'Undefined';
}

/** As a JavaScript number, of ints, floats and bools; else null. */
export function numberOf(value: Value): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof Float ? value.value : null;
}

export function isInteger(value: Value): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

export function integer(value: number): number {
  if (!Number.isSafeInteger(value)) {
    throw failure(`an integer beyond 2^53 (${value})`);
  }
  return value === 0 ? 0 : value; // no negative zero
}

export function truthy(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (value instanceof Text) return value.text !== '';
  if (value instanceof Sequence) return value.items.length > 0;
  if (value instanceof Dict) return value.size > 0;
  const number = numberOf(value);
  return number === null || number !== 0;
}

/** The items that a loop over the value goes through. */
export function iterate(value: Value, budget: Budget): readonly Value[] {
  const items = itemsOf(value);
  if (items === null) {
    throw failure(`'${typeName(value)}' object is not iterable`);
  }
  budget.step(items.length);
  return items;
}

function itemsOf(value: Value): readonly Value[] | null {
  if (value instanceof Sequence) return value.items;
  if (value instanceof Generator) return value.take();
  if (value instanceof Dict) return value.keys();
  if (value instanceof Text) return characters(value);
  return value instanceof Undefined ? [] : null;
}

const surrogates = /[\uD800-\uDFFF]/;

/** Characters of a text, as Python counts them. */
export function characters(value: Text): Text[] {
  checkItems(value.length);
  let at = 0;
  return Array.from(value.text, (character) => value.slice(at, (at += character.length)));
}

export function lengthOf(value: Value): number {
  if (value instanceof Text) {
    return surrogates.test(value.text) ? characters(value).length : value.length;
  }
  if (value instanceof Sequence) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof Undefined) return 0;
  throw failure(`object of type '${typeName(value)}' has no len()`);
}

const maxDepth = 200;

/** A value of the caller's. Its texts are untrusted; missing values are left out. */
export function fromOutside(value: unknown, depth = 0): Value {
  if (depth > maxDepth) {
    throw failure('the messages or variables are nested too deeply');
  }
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return Text.fromOutside(value);
  if (typeof value === 'bigint') return integer(Number(value));
  if (typeof value === 'number') {
    // 1.0 and 1 are one number here; Python would tell them apart.
    return Number.isSafeInteger(value) ? integer(value) : new Float(value);
  }
  if (Array.isArray(value)) {
    return list(value.map((item: unknown) => fromOutside(item ?? null, depth + 1)));
  }
  if (typeof value === 'object') {
    const dict = new Dict();
    for (const [key, item] of value instanceof Map ? value : Object.entries(value)) {
      if (item !== undefined) {
        dict.set(fromOutside(key), fromOutside(item, depth + 1));
      }
    }
    return dict;
  }
  throw failure(`a ${typeof value} among the messages or variables`);
}

// SPDX-License-Identifier: MIT
// Jinja's filters on lists.

import { binary } from './operators.js';
import { compare, equals } from './compare.js';
import { checkItems, failure } from './failure.js';
import type { Filter, Runtime } from './filters.js';
import { subscript } from './lookup.js';
import { toText } from './print.js';
import { joined, lower, needText } from './text-methods.js';
import { Text } from './text.js';
import {
  bind,
  characters,
  Dict,
  Generator,
  isInteger,
  iterate,
  list,
  Sequence,
  truthy,
  tuple,
  typeName,
  Undefined,
  type Value,
} from './values.js';

type Key = (value: Value) => Value;

/** Looks up "a.b.0" step by step; the item itself if there is no attribute. */
function attributeGetter(attribute: Value | undefined, { budget }: Runtime, fallback?: Value): Key {
  if (attribute === undefined || attribute === null) return (item) => item;
  const path: Value[] = isInteger(attribute)
    ? [attribute]
    : needText(attribute, 'attribute')
        .text.split('.')
        .map((step) => (/^\d+$/.test(step) ? Number(step) : new Text(step)));
  return (item) => {
    const found = path.reduce((value: Value, step) => {
      const next = subscript(value, step, budget);
      return next instanceof Undefined && fallback !== undefined ? fallback : next;
    }, item);
    return found;
  };
}

const ignoringCase =
  (caseSensitive: Value | undefined): Key =>
  (value) =>
    value instanceof Text && !truthy(caseSensitive ?? false) ? lower(value) : value;

/** Stable, also when reversed. */
function sorted(items: readonly Value[], key: Key, reverse: boolean, { budget }: Runtime): Value[] {
  const direction = reverse ? -1 : 1;
  return items
    .map((item) => ({ item, by: key(item) }))
    .sort((a, b) => direction * compare(a.by, b.by, budget))
    .map(({ item }) => item);
}

const sort: Filter = (value, args, runtime) => {
  const [reverse = false, caseSensitive, attribute] = bind('sort', args, [
    'reverse',
    'case_sensitive',
    'attribute',
  ]);
  const fold = ignoringCase(caseSensitive);
  const paths =
    attribute instanceof Text ? attribute.text.split(',').map((path) => new Text(path)) : [attribute];
  const getters = paths.map((path) => attributeGetter(path, runtime));
  const key: Key = (item) => list(getters.map((get) => fold(get(item))));
  return list(sorted(iterate(value, runtime.budget), key, truthy(reverse), runtime));
};

const dictSort: Filter = (value, args, runtime) => {
  const [caseSensitive, by = new Text('key'), reverse = false] = bind('dictsort', args, [
    'case_sensitive',
    'by',
    'reverse',
  ]);
  if (!(value instanceof Dict)) throw failure(`dictsort needs a dict, not '${typeName(value)}'`);
  const position = ['key', 'value'].indexOf(needText(by, 'by').text);
  if (position < 0) throw failure('You can only sort by either "key" or "value"');
  const fold = ignoringCase(caseSensitive);
  const key: Key = (pair) => fold(pair instanceof Sequence ? (pair.items[position] ?? null) : null);
  const pairs = value.entries().map((entry) => tuple(...entry));
  return list(sorted(pairs, key, truthy(reverse), runtime));
};

const groupBy: Filter = (value, args, runtime) => {
  const [attribute, fallback, caseSensitive] = bind('groupby', args, [
    'attribute',
    'default',
    'case_sensitive',
  ]);
  const get = attributeGetter(attribute, runtime, fallback);
  const fold = ignoringCase(caseSensitive);
  const items = sorted(iterate(value, runtime.budget), (item) => fold(get(item)), false, runtime);
  const groups: { key: Value; grouper: Value; items: Value[] }[] = [];
  for (const item of items) {
    const key = fold(get(item));
    const last = groups.at(-1);
    if (last && equals(last.key, key, runtime.budget)) last.items.push(item);
    else groups.push({ key, grouper: get(item), items: [item] });
  }
  return list(
    groups.map((group) => new Sequence('tuple', [group.grouper, list(group.items)], ['grouper', 'list'])),
  );
};

const unique: Filter = (value, args, runtime) => {
  const [caseSensitive, attribute] = bind('unique', args, ['case_sensitive', 'attribute']);
  const get = attributeGetter(attribute, runtime);
  const fold = ignoringCase(caseSensitive);
  return new Generator(() => {
    const seen = new Dict();
    return iterate(value, runtime.budget).filter((item) => {
      const key = fold(get(item));
      const isNew = seen.get(key) === undefined;
      seen.set(key, true);
      return isNew;
    });
  });
};

const extreme =
  (name: string, sign: number): Filter =>
  (value, args, runtime) => {
    const [caseSensitive, attribute] = bind(name, args, ['case_sensitive', 'attribute']);
    const get = attributeGetter(attribute, runtime);
    const fold = ignoringCase(caseSensitive);
    const [first, ...others] = iterate(value, runtime.budget);
    if (first === undefined) return new Undefined('No aggregated item, sequence was empty.');
    return others.reduce(
      (best: Value, item) =>
        sign * compare(fold(get(item)), fold(get(best)), runtime.budget) > 0 ? item : best,
      first,
    );
  };

const sum: Filter = (value, args, runtime) => {
  const [attribute, start = 0] = bind('sum', args, ['attribute', 'start']);
  const get = attributeGetter(attribute, runtime);
  return iterate(value, runtime.budget).reduce((total: Value, item) => binary('+', total, get(item)), start);
};

const join: Filter = (value, args, runtime) => {
  const [separator = Text.empty, attribute] = bind('join', args, ['d', 'attribute']);
  const get = attributeGetter(attribute, runtime);
  return joined(
    toText(separator),
    iterate(value, runtime.budget).map((item) => toText(get(item))),
  );
};

/** map and select do not look into a value that is false, None among them. */
const itemsIfAny = (value: Value, { budget }: Runtime): readonly Value[] =>
  truthy(value) ? iterate(value, budget) : [];

const map: Filter = (value, args, runtime) => {
  const { positional, named } = args;
  if (positional.length === 0 && named.has('attribute')) {
    const [attribute, fallback] = bind('map', args, ['attribute', 'default']);
    const get = attributeGetter(attribute, runtime, fallback);
    return new Generator(() => itemsIfAny(value, runtime).map(get));
  }
  const [name, ...rest] = positional;
  const apply = (item: Value): Value =>
    runtime.filter(needText(name, 'the filter of map').text, item, { positional: rest, named });
  return new Generator(() => itemsIfAny(value, runtime).map(apply));
};

/** select, reject, selectattr, rejectattr. */
const picker =
  (name: string, wanted: boolean, byAttribute: boolean): Filter =>
  (value, { positional, named }, runtime) => {
    const passes = (): ((item: Value) => boolean) => {
      const attribute = byAttribute ? positional[0] : undefined;
      const [test, ...rest] = byAttribute ? positional.slice(1) : positional;
      if (byAttribute && attribute === undefined)
        throw failure(`${name}: missing parameter for attribute name`);
      const get = attributeGetter(attribute, runtime);
      if (test === undefined) return (item) => truthy(get(item));
      const { text } = needText(test, 'the test');
      return (item) => runtime.test(text, get(item), { positional: rest, named });
    };
    return new Generator(() => {
      const passing = passes();
      return itemsIfAny(value, runtime).filter((item) => passing(item) === wanted);
    });
  };

const reverse: Filter = (value, _args, { budget }) => {
  if (value instanceof Text) return joined(Text.empty, characters(value).reverse());
  const reversed = [...iterate(value, budget)].reverse();
  return value instanceof Generator ? list(reversed) : new Generator(() => reversed);
};

const items: Filter = (value) =>
  new Generator(() => {
    if (value instanceof Undefined) return [];
    if (!(value instanceof Dict)) throw failure('Can only get item pairs from a mapping.');
    return value.entries().map((entry) => tuple(...entry));
  });

function chunkSize(name: string, value: Value | undefined): number {
  if (!isInteger(value ?? null) || Number(value) < 1) throw failure(`${name} needs a positive number`);
  checkItems(Number(value));
  return Number(value);
}

const batch: Filter = (value, args, { budget }) => {
  const [count, fill = null] = bind('batch', args, ['linecount', 'fill_with']);
  return new Generator(() => {
    const size = chunkSize('batch', count);
    const all = iterate(value, budget);
    const rows = Array.from({ length: Math.ceil(all.length / size) }, (_, row) =>
      all.slice(row * size, (row + 1) * size),
    );
    const short = size - (rows.at(-1)?.length ?? size);
    if (fill !== null && short > 0) {
      rows.push([...(rows.pop() ?? []), ...Array.from({ length: short }, () => fill)]);
    }
    return rows.map(list);
  });
};

const slices: Filter = (value, args, { budget }) => {
  const [count, fill = null] = bind('slice', args, ['slices', 'fill_with']);
  return new Generator(() => {
    const columns = chunkSize('slice', count);
    const all = iterate(value, budget);
    budget.step(columns);
    const size = Math.floor(all.length / columns);
    const longer = all.length % columns;
    const start = (column: number): number => column * size + Math.min(column, longer);
    return Array.from({ length: columns }, (_, column) => {
      const part = all.slice(start(column), start(column + 1));
      return list(fill !== null && column >= longer ? [...part, fill] : part);
    });
  });
};

const first: Filter = (value, _args, { budget }) =>
  valueAt(iterate(value, budget), 0, 'No first item, sequence was empty.');
const last: Filter = (value, _args, { budget }) => {
  if (value instanceof Generator) throw failure("'generator' object is not reversible");
  return valueAt(iterate(value, budget), -1, 'No last item, sequence was empty.');
};

function valueAt(all: readonly Value[], index: number, hint: string): Value {
  const value = all.at(index);
  return value === undefined ? new Undefined(hint) : value;
}

export const listFilters: readonly (readonly [string, Filter])[] = [
  ['batch', batch],
  ['dictsort', dictSort],
  ['first', first],
  ['groupby', groupBy],
  ['items', items],
  ['join', join],
  ['last', last],
  ['list', (value, _args, { budget }) => list(iterate(value, budget))],
  ['map', map],
  ['max', extreme('max', 1)],
  ['min', extreme('min', -1)],
  ['reject', picker('reject', false, false)],
  ['rejectattr', picker('rejectattr', false, true)],
  ['reverse', reverse],
  ['select', picker('select', true, false)],
  ['selectattr', picker('selectattr', true, true)],
  ['slice', slices],
  ['sort', sort],
  ['sum', sum],
  ['unique', unique],
];

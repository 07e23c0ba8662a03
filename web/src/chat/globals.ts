// SPDX-License-Identifier: MIT
// Functions that every template has: those of Jinja2 and those that transformers adds.

import { failure, refusal } from './failure.js';
import { toText } from './print.js';
import { strftime } from './strftime.js';
import { needText } from './text-methods.js';
import { Text } from './text.js';
import {
  bind,
  Callable,
  Dict,
  HostObject,
  isInteger,
  iterate,
  Sequence,
  typeName,
  type Arguments,
  type Value,
} from './values.js';
import type { Budget } from './failure.js';

/** What Jinja2's sandbox allows. */
const maxRange = 100_000;

function range(args: Arguments): Value {
  const numbers = args.positional.map((value) => {
    if (!isInteger(value)) throw failure(`'${typeName(value)}' object cannot be interpreted as an integer`);
    return Number(value);
  });
  const [first = 0, second, step = 1] = numbers;
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (numbers.length === 0 || step === 0) throw failure('range() needs an end, and a step other than zero');
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > maxRange) {
    throw failure(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${maxRange}).`);
  }
  return new Sequence(
    'range',
    Array.from({ length: count }, (_, index) => start + index * step),
  );
}

/** dict(…) and namespace(…): of a dict or of pairs, and of keyword arguments. */
function dictOf(name: string, { positional, named }: Arguments, budget: Budget): Dict {
  const dict = new Dict();
  const [source] = positional;
  if (positional.length > 1) throw failure(`${name} expected at most 1 argument, got ${positional.length}`);
  if (source instanceof Dict) {
    source.entries().forEach(([key, value]) => dict.set(key, value));
  } else if (source !== undefined) {
    for (const pair of iterate(source, budget)) {
      const [key, value, ...rest] = iterate(pair, budget);
      if (key === undefined || value === undefined || rest.length > 0) throw failure(`${name} needs pairs`);
      dict.set(key, value);
    }
  }
  named.forEach((value, key) => dict.set(new Text(key), value));
  return dict;
}

function namespace(args: Arguments, budget: Budget): HostObject {
  const entries = dictOf('namespace', args, budget).entries();
  return new HostObject('Namespace', new Map(entries.map(([key, value]) => [toText(key).text, value])));
}

function joiner(args: Arguments): HostObject {
  const [separator = new Text(', ')] = bind('joiner', args, ['sep']);
  let used = false;
  return new HostObject('Joiner', new Map(), () => {
    const text = used ? toText(separator) : Text.empty;
    used = true;
    return text;
  });
}

function cycler({ positional: items }: Arguments): HostObject {
  if (items.length === 0) throw failure('at least one item has to be provided');
  const attributes = new Map<string, Value>();
  const object = new HostObject('Cycler', attributes);
  const moveTo = (position: number): void => {
    attributes.set('current', items[position % items.length] ?? null);
    attributes.set(
      'next',
      new Callable('next', () => {
        const current = items[position % items.length] ?? null;
        moveTo(position + 1);
        return current;
      }),
    );
  };
  attributes.set('reset', new Callable('reset', () => (moveTo(0), null)));
  moveTo(0);
  return object;
}

export function globals(now: Date, budget: Budget): Map<string, Value> {
  const functions: [string, (args: Arguments) => Value][] = [
    ['range', range],
    ['dict', (args) => dictOf('dict', args, budget)],
    ['namespace', (args) => namespace(args, budget)],
    ['joiner', joiner],
    ['cycler', cycler],
    [
      'raise_exception',
      (args) => {
        throw refusal(toText(bind('raise_exception', args, ['message'])[0] ?? null).text);
      },
    ],
    [
      'strftime_now',
      (args) => new Text(strftime(now, needText(bind('strftime_now', args, ['format'])[0], 'format').text)),
    ],
  ];
  return new Map([
    ...functions.map(([name, call]): [string, Value] => [name, new Callable(name, call)]),
    ['true', true],
    ['True', true],
    ['false', false],
    ['False', false],
    ['none', null],
    ['None', null],
  ]);
}

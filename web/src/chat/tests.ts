// SPDX-License-Identifier: MIT
// Jinja's tests: what may stand after `is`.

import { compare, contains, equals } from './compare.js';
import { failure, type Budget } from './failure.js';
import type { Filter } from './filters.js';
import { binary } from './operators.js';
import { toText } from './print.js';
import { hasCase, needText } from './text-methods.js';
import { Text } from './text.js';
import {
  bind,
  Callable,
  Dict,
  Float,
  Generator,
  HostObject,
  isInteger,
  numberOf,
  Sequence,
  Undefined,
  type Arguments,
  type Value,
} from './values.js';

type Test = (value: Value, argument: Value, budget: Budget) => boolean;

const plain =
  (test: (value: Value) => boolean): Test =>
  (value) =>
    test(value);

const compared =
  (operator: string, holds: (order: number) => boolean): Test =>
  (value, other, budget) =>
    holds(compare(value, other, budget, operator));

const remainder = (value: Value, divisor: Value): number | null => numberOf(binary('%', value, divisor));

const different: Test = (value, other, budget) => !equals(value, other, budget);
const greater = compared('>', (order) => order > 0);
const less = compared('<', (order) => order < 0);
const atLeast = compared('>=', (order) => order >= 0);
const atMost = compared('<=', (order) => order <= 0);
const identical: Test = (value, other, budget) =>
  value === other ||
  (value instanceof Text && other instanceof Text && value.text === other.text) ||
  (value instanceof Float && other instanceof Float && equals(value, other, budget));

/** Tests with an argument; the others refuse one. */
const withArgument: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['==', equals],
  ['eq', equals],
  ['equalto', equals],
  ['!=', different],
  ['ne', different],
  ['>', greater],
  ['gt', greater],
  ['greaterthan', greater],
  ['<', less],
  ['lt', less],
  ['lessthan', less],
  ['>=', atLeast],
  ['ge', atLeast],
  ['<=', atMost],
  ['le', atMost],
  ['divisibleby', (value, divisor) => remainder(value, divisor) === 0],
  ['in', (value, container, budget) => contains(container, value, budget)],
  ['sameas', identical],
]);

const withoutArgument: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['boolean', plain((value) => typeof value === 'boolean')],
  // Jinja's undefined has a __call__ that fails, so Python holds it callable.
  [
    'callable',
    plain(
      (value) =>
        value instanceof Callable ||
        value instanceof Undefined ||
        (value instanceof HostObject && value.call !== null),
    ),
  ],
  ['defined', plain((value) => !(value instanceof Undefined))],
  ['escaped', () => false],
  ['even', plain((value) => remainder(value, 2) === 0)],
  ['false', plain((value) => value === false)],
  ['float', plain((value) => value instanceof Float)],
  ['integer', plain((value) => typeof value === 'number')],
  [
    'iterable',
    plain(
      (value) =>
        value instanceof Text ||
        value instanceof Sequence ||
        value instanceof Dict ||
        value instanceof Generator ||
        value instanceof Undefined,
    ),
  ],
  ['lower', plain((value) => hasCase(toText(value), 'lower'))],
  ['mapping', plain((value) => value instanceof Dict)],
  ['none', plain((value) => value === null)],
  ['number', plain((value) => isInteger(value) || value instanceof Float)],
  ['odd', plain((value) => remainder(value, 2) === 1)],
  [
    'sequence',
    plain(
      (value) =>
        value instanceof Text ||
        value instanceof Dict ||
        value instanceof Undefined ||
        (value instanceof Sequence && !value.isView),
    ),
  ],
  ['string', plain((value) => value instanceof Text)],
  ['true', plain((value) => value === true)],
  ['undefined', plain((value) => value instanceof Undefined)],
  ['upper', plain((value) => hasCase(toText(value), 'upper'))],
]);

/** `filters` are there for the tests "filter" and "test", which ask whether a name exists. */
export function runTest(
  name: string,
  value: Value,
  args: Arguments,
  budget: Budget,
  filters: ReadonlyMap<string, Filter>,
): boolean {
  if (name === 'filter') return filters.has(needText(value, 'the name').text);
  if (name === 'test') {
    const { text } = needText(value, 'the name');
    return withArgument.has(text) || withoutArgument.has(text);
  }
  const comparison = withArgument.get(name);
  if (comparison) {
    const [other] = bind(name, args, ['other']);
    if (other === undefined) throw failure(`the test '${name}' needs an argument`);
    return comparison(value, other, budget);
  }
  const test = withoutArgument.get(name);
  if (!test) throw failure(`No test named '${name}'.`);
  bind(name, args, []);
  return test(value, null, budget);
}

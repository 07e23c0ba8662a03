// SPDX-License-Identifier: MIT
// Python's arithmetic on template values. Texts and lists take part in + and *, texts in %.

import { operandFailure } from './compare.js';
import { checkItems, failure } from './failure.js';
import { formatPercent } from './format.js';
import { toText } from './print.js';
import { concat, Text } from './text.js';
import { Float, integer, isInteger, numberOf, Sequence, type Value } from './values.js';

const number = (value: number, isFloat: boolean): Value => (isFloat ? new Float(value) : integer(value));

type Arithmetic = (a: number, b: number, isFloat: boolean) => Value;

function divisor(value: number): number {
  if (value === 0) throw failure('division by zero');
  return value;
}

/** The remainder has the sign of the divisor. */
function modulo(a: number, b: number): number {
  const rest = a % divisor(b);
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

const arithmetic: ReadonlyMap<string, Arithmetic> = new Map<string, Arithmetic>([
  ['+', (a, b, isFloat) => number(a + b, isFloat)],
  ['-', (a, b, isFloat) => number(a - b, isFloat)],
  ['*', (a, b, isFloat) => number(a * b, isFloat)],
  ['/', (a, b) => new Float(a / divisor(b))],
  // Not floor(a / b): the quotient may round up to the next whole number.
  ['//', (a, b, isFloat) => number(Math.round((a - modulo(a, b)) / b), isFloat)],
  ['%', (a, b, isFloat) => number(modulo(a, b), isFloat)],
  [
    '**',
    (a, b, isFloat) => {
      if (a === 0 && b < 0) throw failure('0.0 cannot be raised to a negative power');
      const power = a ** b;
      if (!Number.isFinite(power)) throw failure('the result of ** is no finite real number');
      return number(power, isFloat || b < 0);
    },
  ],
]);

function repeated(sequence: Value, count: number): Value | null {
  if (sequence instanceof Text) return sequence.repeat(count);
  if (!(sequence instanceof Sequence) || (sequence.kind !== 'list' && sequence.kind !== 'tuple')) return null;
  const { kind, items } = sequence;
  const times = Math.max(0, count);
  checkItems(items.length * times);
  return new Sequence(kind, Array.from({ length: items.length && times }, () => items).flat());
}

export function binary(operator: string, a: Value, b: Value): Value {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== null && right !== null) {
    const operation = arithmetic.get(operator);
    if (operation) return operation(left, right, a instanceof Float || b instanceof Float);
  }
  if (operator === '+') {
    if (a instanceof Text && b instanceof Text) return concat(a, b);
    if (a instanceof Sequence && b instanceof Sequence && a.kind === b.kind) {
      if (a.kind === 'list' || a.kind === 'tuple') return new Sequence(a.kind, [...a.items, ...b.items]);
    }
  }
  if (operator === '*') {
    const copies = isInteger(b) ? repeated(a, Number(b)) : isInteger(a) ? repeated(b, Number(a)) : null;
    if (copies !== null) return copies;
  }
  if (operator === '%' && a instanceof Text) return formatPercent(a, b);
  if (operator === '~') return concat(toText(a), toText(b));
  throw operandFailure(operator, a, b);
}

export function negative(value: Value): Value {
  if (value instanceof Float) return new Float(-value.value);
  if (isInteger(value)) return integer(-Number(value));
  throw operandFailure('unary -', value, null);
}

// SPDX-License-Identifier: MIT
// Equality, order and membership of template values, as in Python.

import { failure, type Budget } from './failure.js';
import { Text } from './text.js';
import { Dict, iterate, numberOf, Sequence, typeName, Undefined, type Value } from './values.js';

export function equals(a: Value, b: Value, budget: Budget): boolean {
  budget.step();
  if (a === b) return true;
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== null || right !== null) return left === right;
  if (a instanceof Text && b instanceof Text) return a.text === b.text;
  if (a instanceof Undefined && b instanceof Undefined) return true;
  if (a instanceof Sequence && b instanceof Sequence) {
    return (
      a.kind === b.kind &&
      a.items.length === b.items.length &&
      a.items.every((item, index) => equals(item, b.items[index] ?? null, budget))
    );
  }
  if (a instanceof Dict && b instanceof Dict) {
    return (
      a.size === b.size &&
      a.entries().every(([key, item]) => {
        const other = b.get(key);
        return other !== undefined && equals(item, other, budget);
      })
    );
  }
  return false;
}

/** Texts are ordered by code points, which differs from the order of UTF-16 units above U+FFFF. */
function compareTexts(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; ++at) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) {
      const isSurrogate = (unit: number): number => Number(unit >= 0xd800 && unit < 0xe000);
      const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
      return isSurrogate(left) - isSurrogate(right) || left - right;
    }
  }
  return a.length - b.length;
}

/** Negative, zero or positive. Fails where Python has no order, and for NaN. */
export function compare(a: Value, b: Value, budget: Budget, operator = '<'): number {
  budget.step();
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== null && right !== null) return left < right ? -1 : left > right ? 1 : left === right ? 0 : NaN;
  if (a instanceof Text && b instanceof Text) return compareTexts(a.text, b.text);
  if (a instanceof Sequence && b instanceof Sequence && a.kind === b.kind && a.kind !== 'range') {
    const at = a.items.findIndex((item, index) => {
      const other = b.items[index];
      return other === undefined || !equals(item, other, budget);
    });
    const [item, other] = [a.items[at], b.items[at]];
    return item === undefined || other === undefined
      ? a.items.length - b.items.length
      : compare(item, other, budget, operator);
  }
  throw operandFailure(operator, a, b);
}

export function operandFailure(operator: string, a: Value, b: Value): Error {
  for (const operand of [a, b]) {
    if (operand instanceof Undefined) return failure(operand.hint);
  }
  return failure(`unsupported operand types for ${operator}: '${typeName(a)}' and '${typeName(b)}'`);
}

export function contains(container: Value, item: Value, budget: Budget): boolean {
  if (container instanceof Text) {
    if (!(item instanceof Text)) throw operandFailure('in', item, container);
    return container.text.includes(item.text);
  }
  if (container instanceof Dict) return container.get(item) !== undefined;
  return iterate(container, budget).some((one) => equals(one, item, budget));
}

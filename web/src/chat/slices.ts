// SPDX-License-Identifier: MIT
// value[start:stop:step], as Python cuts.

import { checkItems, failure } from './failure.js';
import { concat, Text } from './text.js';
import { isInteger, Sequence, typeName, Undefined, type Value } from './values.js';

export function slice(
  value: Value,
  start: Value | undefined,
  stop: Value | undefined,
  step: Value | undefined,
): Value {
  const items =
    value instanceof Text ? null : value instanceof Sequence && !value.isView ? value.items : undefined;
  if (items === undefined) {
    throw value instanceof Undefined
      ? failure(value.hint)
      : failure(`'${typeName(value)}' object cannot be sliced`);
  }
  const stride = bound(step) ?? 1;
  if (stride === 0) throw failure('slice step cannot be zero');
  if (value instanceof Text) return sliceText(value, bound(start), bound(stop), stride);
  const indices = sliceIndices(items?.length ?? 0, bound(start), bound(stop), stride);
  const kind = value instanceof Sequence ? value.kind : 'list';
  return new Sequence(
    kind,
    indices.map((index) => items?.[index] ?? null),
  );
}

function bound(value: Value | undefined): number | null {
  if (value === undefined || value === null) return null;
  if (isInteger(value)) return Number(value);
  throw value instanceof Undefined ? failure(value.hint) : failure('slice indices must be integers or None');
}

function sliceRange(
  length: number,
  start: number | null,
  stop: number | null,
  step: number,
): [number, number] {
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const clamp = (value: number): number => Math.min(high, Math.max(low, value < 0 ? value + length : value));
  return [
    start === null ? (step > 0 ? low : high) : clamp(start),
    stop === null ? (step > 0 ? high : low) : clamp(stop),
  ];
}

function sliceIndices(length: number, start: number | null, stop: number | null, step: number): number[] {
  const [from, to] = sliceRange(length, start, stop, step);
  const count = Math.max(0, Math.ceil((to - from) / step));
  return Array.from({ length: count }, (_, index) => from + index * step);
}

function sliceText(value: Text, start: number | null, stop: number | null, step: number): Text {
  if (step === 1 && !/[\uD800-\uDFFF]/.test(value.text)) {
    const [from, to] = sliceRange(value.length, start, stop, 1);
    return value.slice(from, Math.max(from, to));
  }
  // Characters, not UTF-16 units.
  checkItems(value.length);
  const ends: number[] = [0];
  for (const character of value.text) {
    ends.push((ends.at(-1) ?? 0) + character.length);
  }
  const indices = sliceIndices(ends.length - 1, start, stop, step);
  return concat(...indices.map((index) => value.slice(ends[index] ?? 0, ends[index + 1])));
}

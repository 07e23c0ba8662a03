// SPDX-License-Identifier: MIT
// a.b and a[b]: Jinja tries both an attribute and an item, in this order and in the other.

import { failure, type Budget } from './failure.js';
import { methodOf } from './methods.js';
import { Text } from './text.js';
import {
  characters,
  Dict,
  HostObject,
  isInteger,
  lengthOf,
  Sequence,
  typeName,
  Undefined,
  type Value,
} from './values.js';

function ownAttribute(object: Value, name: string, budget: Budget): Value | undefined {
  return object instanceof HostObject ? object.attributes.get(name) : methodOf(object, name, budget);
}

function item(object: Value, key: Value): Value | undefined {
  if (object instanceof Dict) {
    // Python cannot look up a key of a kind that cannot be one; Jinja then calls it undefined.
    return key instanceof Dict || (key instanceof Sequence && key.kind !== 'tuple')
      ? undefined
      : object.get(key);
  }
  if (!isInteger(key)) return undefined;
  const index = Number(key);
  if (object instanceof Sequence && !object.isView) return object.items.at(index);
  if (!(object instanceof Text)) return undefined;
  return lengthOf(object) === object.length ? character(object, index) : characters(object).at(index);
}

function character(text: Text, index: number): Text | undefined {
  const at = index < 0 ? index + text.length : index;
  return at >= 0 && at < text.length ? text.slice(at, at + 1) : undefined;
}

function missing(object: Value, key: Value): Undefined {
  const name = key instanceof Text ? `attribute '${key.text}'` : `element ${String(key)}`;
  return new Undefined(`'${typeName(object)} object' has no ${name}`);
}

function checkDefined(object: Value): void {
  if (object instanceof Undefined) throw failure(object.hint);
}

/** object.name */
export function attribute(object: Value, name: Text, budget: Budget): Value {
  checkDefined(object);
  const own = ownAttribute(object, name.text, budget);
  if (own !== undefined) return own;
  const found = item(object, name);
  return found === undefined ? missing(object, name) : found;
}

/** object[key] */
export function subscript(object: Value, key: Value, budget: Budget): Value {
  checkDefined(object);
  const found = item(object, key);
  if (found !== undefined) return found;
  const own = key instanceof Text ? ownAttribute(object, key.text, budget) : undefined;
  return own === undefined ? missing(object, key) : own;
}

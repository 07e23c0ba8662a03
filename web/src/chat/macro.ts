// SPDX-License-Identifier: MIT
// How the arguments of a call become the variables of a macro.

import { failure } from './failure.js';
import type { Scope } from './scope.js';
import type { Expression, Parameter, Statement } from './syntax.js';
import { Text } from './text.js';
import { Dict, tuple, Undefined, type Arguments, type Value } from './values.js';

interface Parameters {
  names: { name: string; fallback: Expression | null }[];
  /** Which of varargs, kwargs and caller the body speaks of: only then may a call have more arguments. */
  special: ReadonlySet<string>;
}

const specialNames = ['varargs', 'kwargs', 'caller'];
const known = new WeakMap<object, Parameters>();

export function parametersOf(parameters: readonly Parameter[], body: readonly Statement[]): Parameters {
  const found = known.get(body);
  if (found) return found;
  const names = parameters.map((one) =>
    one.type === 'Identifier'
      ? { name: one.value, fallback: null }
      : { name: one.key.value, fallback: one.value },
  );
  const special = new Set<string>();
  collectSpecial(body, special);
  const made = { names, special };
  known.set(body, made);
  return made;
}

function collectSpecial(node: unknown, special: Set<string>): void {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && node.type === 'Identifier' && 'value' in node && typeof node.value === 'string') {
    if (specialNames.includes(node.value)) special.add(node.value);
    return;
  }
  for (const child of node instanceof Map ? [...node].flat() : Object.values(node)) {
    collectSpecial(child, special);
  }
}

export function bindParameters(
  name: string,
  { names, special }: Parameters,
  { positional, named }: Arguments,
  scope: Scope,
  evaluate: (node: Expression) => Value,
): void {
  const rest = new Map(named);
  // All names are bound before any default is evaluated: none of them is looked up outside the macro.
  const fallbacks: (() => void)[] = [];
  names.forEach((parameter, index) => {
    const given = index < positional.length ? positional[index] : rest.get(parameter.name);
    if (index >= positional.length) rest.delete(parameter.name);
    scope.set(
      parameter.name,
      given === undefined ? new Undefined(`parameter '${parameter.name}' was not provided`) : given,
    );
    const { fallback } = parameter;
    if (given === undefined && fallback !== null) {
      fallbacks.push(() => scope.set(parameter.name, evaluate(fallback)));
    }
  });
  bindSpecial(name, special, rest, positional.slice(names.length), scope);
  fallbacks.forEach((bindFallback) => bindFallback());
}

function bindSpecial(
  name: string,
  special: ReadonlySet<string>,
  rest: Map<string, Value>,
  extra: readonly Value[],
  scope: Scope,
): void {
  if (special.has('caller')) {
    scope.set('caller', rest.get('caller') ?? new Undefined('No caller defined'));
    rest.delete('caller');
  }
  if (special.has('kwargs')) {
    const kwargs = new Dict();
    rest.forEach((value, key) => kwargs.set(new Text(key), value));
    scope.set('kwargs', kwargs);
  } else if (rest.size > 0) {
    throw failure(`macro '${name}' takes no keyword argument '${[...rest.keys()].join("', '")}'`);
  }
  if (special.has('varargs')) {
    scope.set('varargs', tuple(...extra));
  } else if (extra.length > 0) {
    throw failure(`macro '${name}' was called with ${extra.length} more arguments than it takes`);
  }
}

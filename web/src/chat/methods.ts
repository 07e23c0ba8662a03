// SPDX-License-Identifier: MIT
// Methods of str, list, tuple, dict and numbers. Those that change their object do not exist here: transformers runs
// templates in a sandbox that forbids them.

import { equals } from './compare.js';
import { failure, maxItems, type Budget } from './failure.js';
import { textMethods } from './text-methods.js';
import { Text } from './text.js';
import { bind, Callable, Dict, Float, Sequence, tuple, type Arguments, type Value } from './values.js';

type Method<T> = (self: T, args: Arguments, budget: Budget) => Value;

const dictMethods: ReadonlyMap<string, Method<Dict>> = new Map<string, Method<Dict>>([
  ['copy', (self) => self],
  [
    'items',
    (self) =>
      new Sequence(
        'dict_items',
        self.entries().map((entry) => tuple(...entry)),
      ),
  ],
  ['keys', (self) => new Sequence('dict_keys', self.keys())],
  [
    'values',
    (self) =>
      new Sequence(
        'dict_values',
        self.entries().map(([, value]) => value),
      ),
  ],
  [
    'get',
    (self, args) => {
      const [key, fallback = null] = bind('get', args, ['key', 'default']);
      if (key === undefined) throw failure('get expected at least 1 argument, got 0');
      return self.get(key) ?? fallback;
    },
  ],
]);

const sequenceMethods: ReadonlyMap<string, Method<Sequence>> = new Map<string, Method<Sequence>>([
  ['copy', (self) => self],
  [
    'count',
    (self, args, budget) => {
      const [item = null] = bind('count', args, ['value']);
      return self.items.filter((one) => equals(one, item, budget)).length;
    },
  ],
  [
    'index',
    (self, args, budget) => {
      const [item = null, start = 0, stop = maxItems] = bind('index', args, ['value', 'start', 'stop']);
      const at = self.items.findIndex(
        (one, index) => index >= Number(start) && index < Number(stop) && equals(one, item, budget),
      );
      if (at < 0) throw failure('index(): the value is not in the list');
      return at;
    },
  ],
]);

/** The method as a value that can be called; undefined if the object has none of that name. */
export function methodOf(self: Value, name: string, budget: Budget): Value | undefined {
  const bound = <T>(method: Method<T> | undefined, object: T): Callable | undefined =>
    method && new Callable(name, (args) => method(object, args, budget));
  if (self instanceof Text) return bound(textMethods.get(name), self);
  if (self instanceof Dict) return bound(dictMethods.get(name), self);
  if (self instanceof Sequence) {
    const field = self.fields.indexOf(name);
    if (field >= 0) return self.items[field];
    const isMissing = self.isView || (name === 'copy' && self.kind !== 'list');
    return isMissing ? undefined : bound(sequenceMethods.get(name), self);
  }
  if (self instanceof Float && name === 'is_integer') {
    return new Callable(name, () => Number.isInteger(self.value));
  }
  return undefined;
}

// SPDX-License-Identifier: MIT
// The variable `loop`.

import { equals } from './compare.js';
import { failure, type Budget } from './failure.js';
import { Callable, HostObject, list, Undefined, type Arguments, type Value } from './values.js';

export class Loop {
  readonly variable: HostObject;
  readonly #items: readonly Value[];

  /** `recurse` runs the loop's body over other items; null if the loop is not recursive. */
  constructor(
    items: readonly Value[],
    depth: number,
    budget: Budget,
    recurse: ((items: Value) => Value) | null,
  ) {
    this.#items = items;
    let last: Value | null = null;
    const attributes = new Map<string, Value>([
      ['length', items.length],
      ['depth', depth + 1],
      ['depth0', depth],
      [
        'changed',
        new Callable('changed', ({ positional }) => {
          const now = list(positional);
          const changed = last === null || !equals(last, now, budget);
          last = now;
          return changed;
        }),
      ],
      ['cycle', new Callable('cycle', (args) => this.#cycle(args))],
    ]);
    const call = recurse && (({ positional }: Arguments): Value => recurse(positional[0] ?? null));
    this.variable = new HostObject('LoopContext', attributes, call);
  }

  moveTo(index: number): void {
    const { attributes } = this.variable;
    const { length } = this.#items;
    attributes.set('index', index + 1);
    attributes.set('index0', index);
    attributes.set('revindex', length - index);
    attributes.set('revindex0', length - index - 1);
    attributes.set('first', index === 0);
    attributes.set('last', index === length - 1);
    attributes.set('previtem', this.#neighbour(index - 1, 'there is no previous item'));
    attributes.set('nextitem', this.#neighbour(index + 1, 'there is no next item'));
  }

  #neighbour(index: number, hint: string): Value {
    const item = index < 0 ? undefined : this.#items[index];
    return item === undefined ? new Undefined(hint) : item;
  }

  #cycle({ positional }: Arguments): Value {
    if (positional.length === 0) throw failure('no items for cycling given');
    const index = this.variable.attributes.get('index0');
    return positional[Number(index) % positional.length] ?? null;
  }
}

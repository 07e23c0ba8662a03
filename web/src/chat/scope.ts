// SPDX-License-Identifier: MIT
// Where a template's names live. Loops, macros, blocks of set, call, filter and with have a scope of their own; if has none.

import { Undefined, type Value } from './values.js';

export class Scope {
  readonly #variables = new Map<string, Value>();
  readonly #outer: Scope | null;

  constructor(outer: Scope | null) {
    this.#outer = outer;
  }

  get(name: string): Value {
    for (let scope: Scope | null = this; scope !== null; scope = scope.#outer) {
      const value = scope.#variables.get(name);
      if (value !== undefined) return value;
    }
    return new Undefined(`'${name}' is undefined`);
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}

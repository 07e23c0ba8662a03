// SPDX-License-Identifier: MIT
// Reading JSON whose shape is only hoped for.

/** The value at a path of keys; undefined if the path leaves the tree. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) {
      return undefined;
    }
    here = Object.getOwnPropertyDescriptor(here, key)?.value;
  }
  return here;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : null;
}

export function stringAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

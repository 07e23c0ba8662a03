// SPDX-License-Identifier: MIT
// The order in which a pass reads a model, from the engine's description of it: block after block, then the head. The
// embedding comes last: its rows are asked for when they are needed.

import type { Extent } from '../protocol/data.js';

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Blocks by number, then the head, then the embedding. */
function stageOf(name: string): number {
  const block = /^blk\.(\d+)\./.exec(name)?.[1];
  if (block !== undefined) {
    return Number(block);
  }
  return name.startsWith('token_embd') ? Infinity : Number.MAX_SAFE_INTEGER;
}

/** `description`: of Engine.describe(true) (docs/formats/inspect.md). */
export function readOrder(description: unknown): Extent[] {
  const tensors = isObject(description) ? description['tensors'] : null;
  const found: (Extent & { stage: number })[] = [];
  for (const tensor of Array.isArray(tensors) ? tensors : []) {
    const { name, part, offset, bytes }: Record<string, unknown> = isObject(tensor) ? tensor : {};
    const numbers = [part, offset, bytes].every((value) => typeof value === 'number');
    if (typeof name === 'string' && numbers) {
      found.push({ part: Number(part), offset: Number(offset), bytes: Number(bytes), stage: stageOf(name) });
    }
  }
  const apart = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
  found.sort((a, b) => apart(a.stage, b.stage) || apart(a.part, b.part) || apart(a.offset, b.offset));
  return found.map(({ part, offset, bytes }) => ({ part, offset, bytes }));
}

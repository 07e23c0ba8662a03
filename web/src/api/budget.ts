// SPDX-License-Identifier: MIT

import { createError } from '../errors.js';

/** As the engine wants it: 0 is the smallest plan, -1 no limit. */
export function budgetBytesOf(memoryBudget: number | 'min'): number {
  if (memoryBudget !== 'min' && !(memoryBudget > 0)) {
    throw createError('bad_argument', `memoryBudget is ${memoryBudget}: a number of bytes, or 'min'`);
  }
  return memoryBudget === 'min' ? 0 : memoryBudget === Infinity ? -1 : Math.floor(memoryBudget);
}

// SPDX-License-Identifier: MIT
// docs/troubleshooting.md has a row for every error code, and for no other.

import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { engineErrorCodes, hostErrorCodes } from '#web/errors.js';
import { inRepository } from '../e2e/support/repository.js';

test('every error code has its row in docs/troubleshooting.md', () => {
  const text = readFileSync(inRepository('docs', 'troubleshooting.md'), 'utf8');
  const cells = [...text.matchAll(/^\| (`[^|]*) \|/gm)].map((match) => match[1] ?? '');
  const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ''));
  expect(named.sort()).toEqual([...engineErrorCodes, ...hostErrorCodes].sort());
});

// SPDX-License-Identifier: MIT
// Counts a Jest run from its --json file; no file, no test or an unexplained exit status is a failure.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SKIPPED = new Set(['pending', 'todo', 'skipped', 'disabled']);

export function collectJest({ file, code }) {
  const total = { passed: 0, failed: [], skipped: [] };
  if (!existsSync(file)) {
    total.failed.push(`jest left no results (exit status ${code})`);
    return total;
  }
  const json = JSON.parse(readFileSync(file, 'utf8'));
  for (const { name, status, assertionResults } of json.testResults) {
    const source = path.basename(name);
    for (const { fullName, status: outcome } of assertionResults) {
      if (outcome === 'passed') total.passed += 1;
      else (SKIPPED.has(outcome) ? total.skipped : total.failed).push(`${source}: ${fullName}`);
    }
    const explained = assertionResults.some((result) => result.status === 'failed');
    if (status === 'failed' && !explained) total.failed.push(`${source}: the file could not be run`);
  }
  if (total.passed + total.failed.length + total.skipped.length === 0) total.failed.push('no test was found');
  if (code !== 0 && total.failed.length === 0) total.failed.push(`jest ended with status ${code}`);
  return total;
}

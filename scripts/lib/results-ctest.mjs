// SPDX-License-Identifier: MIT
// Counts a ctest run: each GoogleTest program leaves <room>.json, and ctest's own JUnit file names the programs,
// so that a program which crashed before it could write counts as a failure.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Results of one GoogleTest JSON file. */
export function gtestResults(json) {
  const results = { passed: 0, failed: [], skipped: [] };
  for (const suite of json.testsuites ?? []) {
    for (const test of suite.testsuite ?? []) {
      const name = `${suite.name}.${test.name}`;
      // A skipped test carries its reason as a "failure" in some versions, hence the order.
      if (test.status === 'NOTRUN' || test.result === 'SKIPPED') results.skipped.push(name);
      else if (test.failures?.length > 0 || test.result !== 'COMPLETED') results.failed.push(name);
      else results.passed += 1;
    }
  }
  return results;
}

/** The programs of ctest's JUnit file: [{ name, ok }]. */
export function junitPrograms(xml) {
  return [...xml.matchAll(/<testcase\b([^>]*)>/g)].map(([, attributes]) => ({
    name: /\bname="([^"]*)"/.exec(attributes)?.[1] ?? '?',
    ok: /\bstatus="run"/.test(attributes),
  }));
}

/** folder: the JSON files; junit: ctest's file; code: ctest's exit status. */
export function collectCtest({ folder, junit, code }) {
  const total = { passed: 0, failed: [], skipped: [] };
  const failedFiles = new Set();
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  for (const file of files.sort()) {
    const room = path.basename(file, '.json');
    let results;
    try {
      results = gtestResults(JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
    } catch (error) {
      results = { passed: 0, failed: [`unreadable results (${error.message})`], skipped: [] };
    }
    total.passed += results.passed;
    total.failed.push(...results.failed.map((name) => `${room}: ${name}`));
    total.skipped.push(...results.skipped.map((name) => `${room}: ${name}`));
    if (results.failed.length > 0) failedFiles.add(room);
  }
  const programs = existsSync(junit) ? junitPrograms(readFileSync(junit, 'utf8')) : [];
  for (const { name, ok } of programs) {
    if (!ok && !failedFiles.has(name)) total.failed.push(`${name}: the program crashed or did not finish`);
    else if (ok && !files.includes(`${name}.json`)) total.failed.push(`${name}: ran but left no results`);
  }
  if (total.passed + total.failed.length + total.skipped.length === 0) total.failed.push('no test was found');
  if (code !== 0 && total.failed.length === 0) total.failed.push(`ctest ended with status ${code}`);
  return total;
}

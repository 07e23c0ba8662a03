// SPDX-License-Identifier: MIT
// Checks the arrows between rooms, and a few habits, over every file of the repository; then itself.
//   node scripts/check-rooms.mjs [--json FILE]
// Prints each violation as file:line and at the end `rooms: N checks ok` (exit status 0) or how many failed (1).
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { main } from './lib/main.mjs';
import { inRoot, root } from './lib/paths.mjs';
import { FIXTURES } from './lib/rooms-fixtures.mjs';
import { RULES } from './lib/rooms-rules.mjs';
import { ask } from './lib/run.mjs';
import { listFiles } from './lib/stamp.mjs';

/** Text files of the repository, new ones included and ignored ones not; without git, every file here. */
function repositoryFiles() {
  const listed = ask('git', ['-C', root, 'ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  const names = listed
    ? listed.split('\0').filter(Boolean)
    : listFiles(root).map((file) => path.relative(root, file));
  const files = new Map();
  for (const name of names.sort()) {
    const file = inRoot(name);
    if (!existsSync(file) || !statSync(file).isFile()) continue;
    const bytes = readFileSync(file);
    if (!bytes.includes(0)) files.set(name, bytes.toString('utf8'));
  }
  return files;
}

function checkRepository(rule, files) {
  const violations = rule.check(files);
  for (const { file, line, message } of violations) console.log(`${file}:${line}: ${message}`);
  return violations.length === 0;
}

function checkSelf({ rule, files, expected }) {
  const found = RULES.find(({ name }) => name === rule)
    .check(new Map(Object.entries(files)))
    .map(({ file, line }) => `${file}:${line}`);
  const ok = JSON.stringify(found) === JSON.stringify(expected);
  if (!ok) console.log(`self test of '${rule}': expected ${expected.join(' ')}, found ${found.join(' ')}`);
  return ok;
}

main(() => {
  const files = repositoryFiles();
  const results = { passed: 0, failed: [], skipped: [] };
  const count = (name, ok) => (ok ? (results.passed += 1) : results.failed.push(name));
  for (const rule of RULES) count(rule.name, checkRepository(rule, files));
  const tested = (rule) => FIXTURES.some((fixture) => fixture.rule === rule.name);
  count('every rule has a self test', RULES.every(tested));
  for (const fixture of FIXTURES) count(`self test finds: ${fixture.rule}`, checkSelf(fixture));

  const option = process.argv.indexOf('--json');
  if (option > 0) {
    mkdirSync(path.dirname(process.argv[option + 1]), { recursive: true });
    writeFileSync(process.argv[option + 1], JSON.stringify(results));
  }
  for (const name of results.failed) console.log(`not ok: ${name}`);
  const summary = results.failed.length === 0 ? 'checks ok' : `checks ok, ${results.failed.length} FAILED`;
  console.log(`rooms: ${results.passed} ${summary} (${files.size} files)`);
  process.exitCode = results.failed.length === 0 ? 0 : 1;
});

// SPDX-License-Identifier: MIT
// `npm test`: sets up, builds, runs every suite; the last line is `N passed, M failed` (and `, K skipped`).
//   npm test -- native jest     only these suites, and only what they need
// A build or a suite that breaks counts as failed; the others still run.
import { buildPart } from './build.mjs';
import { Failure } from './lib/failure.mjs';
import { log } from './lib/log.mjs';
import { main } from './lib/main.mjs';
import { clearResults, SUITES } from './lib/suites.mjs';
import { setUpForTests } from './setup.mjs';

function chosenSuites(names) {
  const unknown = names.filter((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    throw new Failure(
      `no suite is named ${unknown.join(', ')}; there are ${SUITES.map(({ name }) => name).join(', ')}`,
    );
  }
  return names.length > 0 ? SUITES.filter(({ name }) => names.includes(name)) : SUITES;
}

const messageOf = (error) => (error instanceof Failure ? error.message : (error.stack ?? String(error)));

/** Builds all parts; returns the broken ones. */
async function buildAll(parts, emscripten) {
  const broken = [];
  for (const part of parts) {
    try {
      await buildPart(part, emscripten);
    } catch (error) {
      console.error(messageOf(error));
      broken.push(part);
    }
  }
  return broken;
}

async function runSuite(suite, broken, emscripten) {
  const missing = suite.needs.filter((part) => broken.includes(part));
  if (missing.length > 0)
    return { passed: 0, failed: [`not run: ${missing.join(', ')} could not be built`], skipped: [] };
  try {
    return await suite.run(emscripten);
  } catch (error) {
    console.error(messageOf(error));
    return { passed: 0, failed: ['the suite crashed'], skipped: [] };
  }
}

const counts = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;

main(async () => {
  const total = { passed: 0, failed: [], skipped: [] };
  const add = (name, results) => {
    total.passed += results.passed;
    total.failed.push(...results.failed.map((test) => `${name}: ${test}`));
    total.skipped.push(...results.skipped.map((test) => `${name}: ${test}`));
  };

  const suites = chosenSuites(process.argv.slice(2));
  clearResults();
  try {
    const emscripten = await setUpForTests();
    const parts = [...new Set(suites.flatMap(({ needs }) => needs))];
    const broken = await buildAll(parts, emscripten);
    add('build', { passed: 0, failed: broken, skipped: [] });
    for (const suite of suites) {
      log(`suite ${suite.name} ...`);
      const results = await runSuite(suite, broken, emscripten);
      add(suite.name, results);
      log(`suite ${suite.name}: ${counts(results)}`);
    }
  } catch (error) {
    console.error(`\nerror: ${messageOf(error)}`);
    add('set-up', { passed: 0, failed: ['see the error above'], skipped: [] });
  }

  for (const name of total.skipped) log(`skipped: ${name}`);
  for (const name of total.failed) log(`FAILED: ${name}`);
  console.log(counts(total));
  process.exitCode = total.failed.length > 0 ? 1 : 0;
});

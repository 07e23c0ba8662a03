// SPDX-License-Identifier: MIT
// Renders real chat templates with the built package (node scripts/build.mjs package) and compares with the texts that
// Python's Jinja2 gives; one line per template. Exit status 1 if more than 1 % of the cases differ, or one that is not
// listed below does.
//   node tests/golden/check-templates.mjs [--json FILE] [--show] [FOLDER]
// FOLDER holds templates.json and cases.json; without it ../shared/data/templates, which is skipped where absent.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

const LIMIT = 0.01;

/** Cases that may differ: what identifies them, and the construct that makes the difference. */
const LISTED = [
  {
    matches: (one) => one.plainJinjaAgrees === false,
    construct:
      "llama.cpp moves system messages into the first user message; the template's own text has no such thing",
  },
];

/** The clock that the expected texts were rendered with. */
const NOW = new Date(2026, 0, 15, 10, 30);

/** @returns null when the case is exact, else what is different. */
async function difference(renderChat, template, one) {
  const { messages, add_generation_prompt, bos_token, eos_token, variables } = one;
  let text;
  try {
    text = await renderChat(template, {
      messages,
      add_generation_prompt,
      bos_token,
      eos_token,
      variables,
      now: NOW,
    });
  } catch (error) {
    return one.expected === undefined ? null : error.message;
  }
  if (one.expected === undefined) return 'rendered, but should have failed';
  if (text === one.expected) return null;
  const at = [...text].findIndex((character, index) => character !== one.expected[index]);
  const from = Math.max(0, at - 20);
  return `${JSON.stringify(text.slice(from, at + 40))} instead of ${JSON.stringify(one.expected.slice(from, at + 40))}`;
}

async function checkTemplate(renderChat, { template }, cases, show) {
  const tally = { cases: cases.length, exact: 0, listed: 0, unlisted: 0 };
  for (const one of cases) {
    const different = await difference(renderChat, template, one);
    if (different === null) tally.exact += 1;
    else {
      const known = LISTED.find(({ matches }) => matches(one));
      tally[known ? 'listed' : 'unlisted'] += 1;
      if (known || show)
        console.log(`     ${one.set ?? one.origin}: ${known ? `listed (${known.construct})` : different}`);
    }
  }
  return tally;
}

async function main(args) {
  const json = args.includes('--json') ? args.splice(args.indexOf('--json'), 2)[1] : undefined;
  const show = args.includes('--show') ? args.splice(args.indexOf('--show'), 1).length > 0 : false;
  const folder = args[0] ?? resolve(root, '../shared/data/templates');
  const results = [];
  if (existsSync(join(folder, 'cases.json'))) {
    const { renderChat } = await import(join(root, 'dist/index.js'));
    const { templates } = JSON.parse(readFileSync(join(folder, 'templates.json'), 'utf8'));
    const { cases } = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));
    const total = { cases: 0, exact: 0, listed: 0, unlisted: 0 };
    for (const template of templates) {
      const own = cases.filter((one) => one.template === template.id || one.template === template.name);
      const tally = await checkTemplate(renderChat, template, own, show);
      for (const key of Object.keys(total)) total[key] += tally[key];
      const text = `${tally.cases} cases, ${tally.exact} exact, ${tally.cases - tally.exact} different`;
      const outcome = tally.unlisted === 0 ? 'ok' : 'FAIL';
      results.push({ name: template.name, outcome, text });
      console.log(`${outcome.padEnd(4)} ${template.name.padEnd(52)} ${text}`);
    }
    const different = total.listed + total.unlisted;
    const text = `${total.cases} cases, ${total.exact} exact, ${different} different (${total.listed} of them listed)`;
    const outcome = total.cases > 0 && different <= LIMIT * total.cases ? 'ok' : 'FAIL';
    results.push({ name: 'all templates', outcome, text });
    console.log(`${outcome.padEnd(4)} ${'all templates'.padEnd(52)} ${text}`);
  } else {
    results.push({
      name: 'real templates',
      outcome: 'skip',
      text: 'the collection is not beside this repository',
    });
    console.log('skip real templates: the collection is not beside this repository');
  }
  if (json) writeFileSync(json, `${JSON.stringify(results, null, 1)}\n`);
  return results.some(({ outcome }) => outcome === 'FAIL') ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));

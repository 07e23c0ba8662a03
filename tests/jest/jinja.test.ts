// SPDX-License-Identifier: MIT
// Templates of our own against what Python's Jinja2 makes of them (tests/jest/jinja/, with the script that asked it).

import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { renderTemplate } from '#web/chat/template.js';
import { thrownBy } from './support/assertions.js';
import { inRoot } from './support/paths.js';

interface JinjaCase {
  template: string;
  expected?: string;
  error?: true;
}

const { variables, cases } = JSON.parse(readFileSync(inRoot('tests/jest/jinja/cases.json'), 'utf8')) as {
  variables: Record<string, unknown>;
  cases: JinjaCase[];
};

const now = new Date(2026, 0, 5, 15, 4, 9);
const render = async (template: string): Promise<string> =>
  (await renderTemplate(template, { variables, trusted: {}, now })).text;

describe('as Python renders them', () => {
  const texts = cases.filter((one) => one.expected !== undefined);
  const errors = cases.filter((one) => one.error);

  test('there are cases of both kinds', () => {
    expect(texts.length).toBeGreaterThan(1000);
    expect(errors.length).toBeGreaterThan(100);
  });

  test('templates that work give the same text', async () => {
    const different: unknown[] = [];
    for (const { template, expected } of texts) {
      const text = await render(template).catch((error: unknown) => `! ${String(error)}`);
      if (text !== expected) different.push({ template, text, expected });
    }
    expect(different).toEqual([]);
  });

  test('templates that fail in Python fail here, with a typed error', async () => {
    const different: unknown[] = [];
    for (const { template } of errors) {
      const error = await render(template).catch((thrown: unknown) => thrown);
      if (typeof error === 'string' || !(error instanceof Error) || !('code' in error)) {
        different.push({ template, error: String(error) });
      }
    }
    expect(different).toEqual([]);
  });
});

describe('a template from a stranger', () => {
  const a = '{% set a = ';
  const hostile: [string, string][] = [
    ['endless loops', '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}'],
    [
      'loops that print',
      '{% for i in range(100000) %}{% for j in range(1000) %}xxxxxxxxxxxxxxxx{% endfor %}{% endfor %}',
    ],
    [
      'doubling text',
      `{% set ns = namespace(a='x') %}{% for i in range(99) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}`,
    ],
    ['many long texts', `${a}'x' * 3000000 %}{% for i in range(1000) %}{% set b = a ~ i %}{% endfor %}`],
    ['repeated text', "{{ 'x' * 10**9 }}"],
    ['repeated lists', '{{ ([0] * 10**9) | length }}'],
    [
      'doubling lists',
      `{% set ns = namespace(a=[0]) %}{% for i in range(99) %}{% set ns.a = ns.a + ns.a %}{% endfor %}`,
    ],
    [
      'a list of itself, printed',
      `{% set ns = namespace(a=[0]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}`,
    ],
    [
      'a list of itself, as JSON',
      `{% set ns = namespace(a=[0]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a | tojson }}`,
    ],
    [
      'lists of themselves, compared',
      `{% set ns = namespace(a=[0], b=[0]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}{{ ns.a == ns.b }}`,
    ],
    [
      'deep lists',
      `{% set ns = namespace(a=[]) %}{% for i in range(99999) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a }}`,
    ],
    ['endless recursion', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'],
    [
      'branching recursion',
      '{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}',
    ],
    ['wide padding', "{{ 'x'.center(10**9) }}"],
    ['wide numbers', "{{ '%1000000000d' % 1 }}"],
    ['wide formats', "{{ '{:1000000000}'.format(1) }}"],
    ['wide indentation', "{{ ('a\\n' * 100000) | indent(100000) }}"],
    ['replacing with more', "{% set b = 'x' * 100000 %}{{ b | replace('x', b) }}"],
    ['joining more', "{% set b = 'x' * 1000000 %}{{ ([b] * 100000) | join }}"],
    ['many columns', '{{ [1] | slice(10**9) | list }}'],
    ['deep parentheses', `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`],
    ['many signs', `{{ ${'- '.repeat(120_000)}1 }}`],
    ['many nots', `{{ ${'not '.repeat(60_000)}1 }}`],
    ['a long sum', `{{ 1${'+1'.repeat(120_000)} }}`],
    ['nested tuples', `{{ ${'('.repeat(80_000)}1${',)'.repeat(80_000)} }}`],
    ['nested tests', `{{ ${'1 is in ['.repeat(20_000)}1${']'.repeat(20_000)} }}`],
    ['nested ~', `{{ ${'('.repeat(50_000)}1${'~1)'.repeat(50_000)} }}`],
    ['deep blocks', '{% if 1 %}'.repeat(25_000)],
    ['a long template', ' '.repeat(300_000)],
    ['much white space', `{{ 1 ${' '.repeat(250_000)}`],
    ['white space before tags', `${' '.repeat(250_000)}x{%- if`],
  ];
  for (const [name, template] of hostile) {
    test(`${name}: ends soon with a typed error`, async () => {
      const start = performance.now();
      const error = await thrownBy(() => render(template));
      expect(error).toMatchObject({ name: 'ChatTemplateError', code: expect.stringMatching(/^template_/) });
      expect(performance.now() - start).toBeLessThan(8000); // seconds at most, also on a slow machine
    });
  }

  test('cannot reach JavaScript', async () => {
    const names = [
      'constructor',
      '__proto__',
      'prototype',
      'toString',
      'hasOwnProperty',
      'valueOf',
      '__class__',
    ];
    const objects = [
      'messages',
      'messages[0]',
      's',
      'n',
      'd',
      'range',
      'namespace(a=1)',
      'd.items',
      'true',
      'l',
    ];
    for (const object of objects) {
      for (const name of names) {
        expect(await render(`{{ ${object}.${name} is undefined }}${object}`)).toBe(`True${object}`);
        expect(await render(`{{ ${object}['${name}'] is undefined }}`)).toBe('True');
        expect(await render(`{{ ${name} is undefined }}`)).toBe('True');
        await expect(render(`{{ s | ${name} }}`)).rejects.toMatchObject({ code: 'template_failed' });
        await expect(render(`{{ s is ${name} }}`)).rejects.toMatchObject({ code: 'template_failed' });
      }
    }
  });
});

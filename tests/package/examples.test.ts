// SPDX-License-Identifier: MIT
// The code that people copy: every example in the documentation compiles against the packed tarball, every function and class
// has one, and the README's runs as it stands.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { newProfile, startVisit } from '../e2e/support/browser.js';
import type { Profile, Visit } from '../e2e/support/browser.js';
import { inRepository } from '../e2e/support/repository.js';
import { APPS, serveBuilt } from './support/app-server.js';

interface Example {
  /** File and number. */
  name: string;
  code: string;
}

/** What examples use without saying where it comes from. */
const PRELUDE = `
import * as layerstream from 'layerstream';
import type * as ai from 'ai';
declare global {
  const url: string, template: string, error: unknown;
  const messages: layerstream.ChatMessage[], tools: unknown[];
  let model: layerstream.Model;
  const streamText: typeof ai.streamText, embed: typeof ai.embed;
  function showOldBrowserMessage(): void;
}
`;

const documents = ['README.md', ...readdirSync(inRepository('docs')).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith('.md'),
);

function fencedBlocks(file: string): Example[] {
  const text = readFileSync(inRepository(file), 'utf8');
  return [...text.matchAll(/^\`\`\`(?:ts|js)\n([\s\S]*?)^\`\`\`/gm)].map((match, index) => ({
    name: `${path.basename(file, '.md')}-${index}`,
    code: match[1] ?? '',
  }));
}

const ENTRIES = {
  index: 'layerstream',
  'node/index': 'layerstream/node',
  'ai-sdk/index': 'layerstream/ai-sdk',
};

/** Declaration files of the package. */
function declarations(): { file: string; text: string }[] {
  const dist = path.join(APPS, 'node_modules', 'layerstream', 'dist');
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.d.ts') && !file.startsWith('wasm'))
    .map((file) => ({ file, text: readFileSync(path.join(dist, file), 'utf8') }));
}

function commentedExamples(): Example[] {
  return declarations().flatMap(({ file, text }) => {
    const from = file.startsWith('node/') ? 'layerstream/node' : 'layerstream';
    return [...text.matchAll(/@example\n([\s\S]*?)\*\//g)].map((match, index) => {
      const code = (match[1] ?? '').replace(/^ *\* ?/gm, '');
      const names = exportedValues(from).filter((name) => new RegExp(`\\b${name}\\b`).test(code));
      const sdk = exportedValues('layerstream/ai-sdk').filter((name) =>
        new RegExp(`\\b${name}\\(`).test(code),
      );
      const imports = [
        `import { ${names.join(', ')} } from '${from}';`,
        `import { ${sdk.join(', ')} } from 'layerstream/ai-sdk';`,
      ];
      const name = `${file.replace('.d.ts', '').replaceAll('/', '-')}-${index}`;
      return { name, code: `${imports.join('\n')}\n${code}` };
    });
  });
}

const known = new Map<string, string[]>();
/** Functions, classes and constants that an entry exports. */
function exportedValues(entry: string): string[] {
  const names = known.get(entry);
  if (names === undefined) throw new Error(`${entry} was not looked at`);
  return names;
}

beforeAll(async () => {
  for (const [file, entry] of Object.entries(ENTRIES)) {
    const script = path.join(APPS, 'node_modules', 'layerstream', 'dist', `${file}.js`);
    known.set(entry, Object.keys((await import(pathToFileURL(script).href)) as object));
  }
});

/** Complaints of the compiler about virtual modules beside the unpacked tarball. */
function compile(examples: Example[]): string[] {
  const fileOf = (name: string): string => path.join(APPS, `${name}.example.mts`);
  const files = new Map(examples.map(({ name, code }) => [fileOf(name), `${code}\nexport {};\n`]));
  const prelude = path.join(APPS, 'prelude.example.mts');
  files.set(prelude, PRELUDE);
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts', 'lib.esnext.disposable.d.ts'],
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  const { getSourceFile } = host;
  host.getSourceFile = (file, version, ...rest) => {
    const text = files.get(file);
    return text === undefined
      ? getSourceFile(file, version, ...rest)
      : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${path.basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

describe('examples', () => {
  test('of documents and comments compile', () => {
    const [inDocuments, inComments] = [documents.flatMap(fencedBlocks), commentedExamples()];
    expect(inDocuments.length).toBeGreaterThan(4);
    expect(inComments.length).toBeGreaterThan(15);
    expect(compile([...inDocuments, ...inComments])).toEqual([]);
  }, 180_000);

  test('are there for every function, class and constant', () => {
    const texts = declarations().map(({ text }) => text);
    const without = Object.values(ENTRIES)
      .flatMap(exportedValues)
      .filter((name) => {
        const declared = new RegExp(
          `@example\\n(?:(?!\\*/)[\\s\\S])*\\*/\\nexport declare (?:function|class|const) ${name}\\b`,
        );
        return !texts.some((text) => declared.test(text));
      });
    expect(without).toEqual([]);
  });
});

describe('the README', () => {
  let profile: Profile;
  let visit: Visit;
  beforeAll(async () => {
    profile = newProfile();
    visit = await startVisit(profile);
  });
  afterAll(async () => {
    await visit.close();
    profile.remove();
  });

  test('its first code runs as it stands', async () => {
    const server = await serveBuilt('readme', true, { policy: false });
    const lines: string[] = [];
    visit.page.on('console', (message) => lines.push(message.text()));
    await visit.page.goto(server.url);
    await visit.page.waitForSelector('body[data-done]', { state: 'attached' });
    await visit.page.goto('about:blank');
    await server.close();
    expect(lines.join('')).toContain('The capital of France is Paris.');
    expect(lines.join('\n')).toMatch(/^[\d.]+ tokens\/s$/m);
    expect(lines.join('\n')).toMatch(/^\d+ of \d+ bytes of weights are in memory$/m);
    expect(visit.complaints).toEqual([]);
  });
});

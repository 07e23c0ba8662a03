// SPDX-License-Identifier: MIT
// The rules of check-rooms. A rule is { name, check(files) } where files is a Map of repository path -> text, and
// check returns violations { file, line, message }. Rules see only the map, so the self test can feed them fixtures.
import path from 'node:path';
import { DEMO_PACKAGES, ENGINE_ARROWS, ENGINE_HEADERS, WEB_ARROWS } from './rooms-table.mjs';

const MAX_LINES = 600;
const lineAt = (text, index) => text.slice(0, index).split('\n').length;

/** Blanks out comments, keeping line numbers and string literals. */
function withoutComments(text) {
  const token = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return text.replace(token, (match, literal) => literal ?? match.replace(/[^\n]/g, ' '));
}

// ---- C++ ----------------------------------------------------------------------------------------------------
const isCpp = (file) => /^(engine|wasm_bindings)\/.*\.(h|hpp|cpp|cc|inc)$/.test(file);
const cppRoom = (file) => (file.startsWith('engine/') ? file.split('/')[1] : 'wasm_bindings');

function* includesOf(text) {
  const pattern = /^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)/gm;
  for (const match of withoutComments(text).matchAll(pattern)) {
    yield { own: match[1], system: match[2], line: lineAt(text, match.index) };
  }
}

/** Quoted includes are written from engine/, or name a neighbour in the same folder. */
function resolveInclude(from, include, files) {
  const candidates = [`engine/${include}`, path.posix.join(path.posix.dirname(from), include)];
  return candidates.find((file) => files.has(file)) ?? null;
}

function checkIncludes(files) {
  const violations = [];
  for (const [file, text] of files) {
    if (!isCpp(file)) continue;
    const room = cppRoom(file);
    const allowed = ENGINE_ARROWS[room];
    const report = (line, message) => violations.push({ file, line, message });
    if (!allowed) report(1, `'${room}' is not a room of scripts/lib/rooms-table.mjs`);
    for (const { own, line } of includesOf(text)) {
      if (own === undefined || !allowed) continue;
      const target = resolveInclude(file, own, files);
      if (!target) report(line, `"${own}" is no file of the engine`);
      else if (cppRoom(target) !== room && !allowed.includes(cppRoom(target))) {
        report(line, `${room} may not include ${cppRoom(target)} ("${own}")`);
      }
    }
  }
  return violations;
}

const headerRule = ({ pattern, rooms, rule }) => ({
  name: rule,
  check: (files) =>
    [...files]
      .filter(([file]) => isCpp(file) && !rooms.includes(cppRoom(file)))
      .flatMap(([file, text]) =>
        [...includesOf(text)]
          .filter(({ own, system }) => pattern.test(own ?? system))
          .map(({ own, system, line }) => ({ file, line, message: `${own ?? system}: ${rule}` })),
      ),
});

// ---- TypeScript ---------------------------------------------------------------------------------------------
const isScript = (file) => /\.(ts|mts|js|mjs)$/.test(file);

function* importsOf(text) {
  const code = withoutComments(text);
  const statement =
    /\b(import|export)\s+(type\s)?(?:[\w*\s{},$]*?\sfrom\s*)?(['"])([^'"\n]+)\3|\bimport\s*\(\s*(['"])([^'"\n]+)\5/g;
  for (const match of code.matchAll(statement)) {
    yield { target: match[4] ?? match[6], typeOnly: match[2] !== undefined, line: lineAt(text, match.index) };
  }
}

function webRoom(file) {
  const first = file
    .slice('web/src/'.length)
    .split('/')[0]
    .replace(/(\.d)?\.m?ts$/, '');
  return first === 'chat-template' || first === 'template' ? 'chat' : first;
}

function checkWebImports(files) {
  const violations = [];
  for (const [file, text] of files) {
    if (!file.startsWith('web/src/') || !isScript(file)) continue;
    const room = webRoom(file);
    const arrows = WEB_ARROWS[room];
    const report = (line, message) => violations.push({ file, line, message });
    if (!arrows) report(1, `'${room}' is not a room of scripts/lib/rooms-table.mjs`);
    for (const { target, typeOnly, line } of arrows ? importsOf(text) : []) {
      if (!target.startsWith('.')) {
        if (!(arrows.packages ?? []).includes(target))
          report(line, `${room} may not import the package '${target}'`);
        continue;
      }
      const full = path.posix.join(path.posix.dirname(file), target);
      if (!full.startsWith('web/src/')) report(line, `'${target}' leaves web/src`);
      else if (webRoom(full.replace(/\.js$/, '.ts')) !== room) {
        const other = webRoom(full.replace(/\.js$/, '.ts'));
        const asType = (arrows.types ?? []).includes(other);
        if (asType && !typeOnly) report(line, `${room} may import ${other} only by 'import type'`);
        else if (!asType && !arrows.rooms.includes(other))
          report(line, `${room} may not import ${other} ('${target}')`);
      }
    }
  }
  return violations;
}

function checkDemoImports(files) {
  const violations = [];
  for (const [file, text] of files) {
    if (!file.startsWith('demo/') || !isScript(file) || /\bvite\.config\./.test(file)) continue;
    for (const { target, line } of importsOf(text)) {
      const inside =
        target.startsWith('.') && path.posix.join(path.posix.dirname(file), target).startsWith('demo/');
      if (!inside && !DEMO_PACKAGES.includes(target)) {
        violations.push({
          file,
          line,
          message: `the demo may import only ${DEMO_PACKAGES.join(', ')}, not '${target}'`,
        });
      }
    }
  }
  return violations;
}

// ---- every file ---------------------------------------------------------------------------------------------
const isSource = (file) => /\.(h|hpp|cpp|cc|ts|mts|js|mjs|py|sh|cmake|css|html)$/.test(file);
// What comes with a model is kept as it was when the model was made.
const isModelRecipe = (file) => file.startsWith('demo/models/');
const isGenerated = (text) => /\bgenerated by\b/i.test(text.split('\n', 6).join('\n'));

const checkLength = (files) =>
  [...files]
    .filter(([file, text]) => isSource(file) && !isModelRecipe(file) && !isGenerated(text))
    .map(([file, text]) => ({ file, line: text.trimEnd().split('\n').length }))
    .filter(({ line }) => line > MAX_LINES)
    .map((entry) => ({ ...entry, message: `${entry.line} lines; split it by idea (limit ${MAX_LINES})` }));

const textRule = (name, pattern, only = () => true) => ({
  name,
  check: (files) =>
    [...files]
      .filter(([file]) => only(file))
      .flatMap(([file, text]) =>
        [...text.matchAll(pattern)].map((match) => ({
          file,
          line: lineAt(text, match.index),
          message: `'${match[0]}'`,
        })),
      ),
});

// Written in pieces, so that this file does not contain what it looks for.
const MACHINE_PATH = new RegExp(
  `(?<![\\w.$})\\]/"-])/(?:ro${'ot'}/|ho${'me'}/[a-z]|Us${'ers'}/[a-z]|wo${'rk'}/(?:main|shared))`,
  'g',
);
const HOSTS = [
  'registry.npm' + 'js.org',
  'registry.yarn' + 'pkg.com',
  'deb.deb' + 'ian.org',
  'py' + 'pi.org',
];
const REGISTRY_HOST = new RegExp(HOSTS.join('|').replaceAll('.', '\\.'), 'g');

export const RULES = [
  { name: 'C++ includes follow the arrows', check: checkIncludes },
  ...ENGINE_HEADERS.map(headerRule),
  { name: 'TypeScript imports follow the arrows', check: checkWebImports },
  { name: 'the demo uses only the public package', check: checkDemoImports },
  { name: `no source file is longer than ${MAX_LINES} lines`, check: checkLength },
  textRule('no paths of one machine', MACHINE_PATH),
  textRule('no package registry addresses', REGISTRY_HOST),
  textRule('lock files carry no addresses', /"resolved": "http[^"]*"/g, (file) =>
    /package-lock\.json$/.test(file),
  ),
];

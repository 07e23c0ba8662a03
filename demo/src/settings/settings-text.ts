// SPDX-License-Identifier: MIT
// Settings that are lists, as people type them. Each function throws an Error whose message is a sentence for the
// person who typed.

import { samplerNames } from 'layerstream';
import type { SamplerName } from 'layerstream';

export const SAMPLER_NAMES = samplerNames.join(', ');

/** One text a line; \n, \t and \\ stand for a line break, a tab and a backslash. */
export function parseTexts(text: string): string[] {
  const escapes: Record<string, string> = { '\\n': '\n', '\\t': '\t', '\\\\': '\\' };
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/\\[nt\\]/g, (escape) => escapes[escape] ?? escape));
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

function idOf(word: string): number {
  if (!/^\d{1,9}$/.test(word)) throw new Error(`“${word}” is not a token number.`);
  return Number(word);
}

export function parseIds(text: string): number[] {
  return words(text).map(idOf);
}

/** One bias a line: a token number, a colon or a space, and what is added; -inf bans the token. */
export function parseBiases(text: string): Record<number, number> {
  const biases: Record<number, number> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [id = '', value = '', ...more] = line.split(/[\s:=,]+/).filter((word) => word !== '');
    const bias = value === '-inf' ? -Infinity : Number(value);
    if (value === '' || Number.isNaN(bias) || bias === Infinity || more.length > 0) {
      throw new Error(`“${line.trim()}” should be a token number and a bias, for example “42 -1.5”.`);
    }
    biases[idOf(id)] = bias;
  }
  return biases;
}

export function parseSamplers(text: string): SamplerName[] {
  return words(text).map((word) => {
    const known = samplerNames.find((name) => name === word);
    if (known === undefined) throw new Error(`“${word}” is not a step. Steps are ${SAMPLER_NAMES}.`);
    return known;
  });
}

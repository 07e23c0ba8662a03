// SPDX-License-Identifier: MIT
// Sampling options -> complete settings. Here it is checked that every setting is what its type says, which JavaScript
// does not; the ranges are the engine's to check (engine/sampler/config.cpp).

import { createError, type LayerstreamError } from '../errors.js';
import { samplerNames, type SamplingSettings } from '../protocol/data.js';
import type { SamplingOptions } from './types.js';

export { samplerNames };

/** Settings that are plain numbers. */
export type SamplingNumber = Exclude<
  keyof SamplingOptions,
  'seed' | 'drySequenceBreakers' | 'logitBias' | 'bannedTokens' | 'samplers'
>;

/**
 * What each of these settings is where it is not given: everything off, greedy.
 *
 * @example
 * const { temperature, topP } = samplingDefaults; // 0 and 1
 */
export const samplingDefaults: Readonly<Record<SamplingNumber, number>> = {
  temperature: 0,
  dynatempRange: 0,
  dynatempExponent: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  typicalP: 1,
  topNSigma: -1,
  xtcProbability: 0,
  xtcThreshold: 0.1,
  dryMultiplier: 0,
  dryBase: 1.75,
  dryAllowedLength: 2,
  dryLastN: -1,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  repeatLastN: 64,
  mirostat: 0,
  mirostatTau: 5,
  mirostatEta: 0.1,
};

const defaults: SamplingSettings = {
  ...samplingDefaults,
  seed: 0,
  drySequenceBreakers: ['\n', ':', '"', '*'],
  logitBias: [],
  bannedTokens: [],
  samplers: samplerNames,
};

const numbers = Object.keys(samplingDefaults) as SamplingNumber[];
/** The others are real numbers. */
const integers: readonly string[] = ['topK', 'dryAllowedLength', 'dryLastN', 'repeatLastN', 'mirostat'];

function refusal(name: string, value: unknown, expected: string): LayerstreamError {
  return createError('bad_argument', `${name} is ${String(value)}, expected ${expected}`, {
    details: { [name]: value },
  });
}

function finite(name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw refusal(name, value, 'a finite number');
  }
  return value;
}

/** What fits 32 bits. */
function integer(name: string, value: unknown): number {
  if (typeof value !== 'number' || (value | 0) !== value) {
    throw refusal(name, value, 'a whole number');
  }
  return value;
}

function list<T>(name: string, values: unknown, item: (name: string, value: unknown) => T): T[] {
  if (!Array.isArray(values)) {
    throw refusal(name, values, 'an array');
  }
  return values.map((value: unknown, index) => item(`${name}[${index}]`, value));
}

function breaker(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.includes('\0')) {
    throw refusal(name, value, 'a text without NUL');
  }
  return value;
}

function samplerName(name: string, value: unknown): SamplingSettings['samplers'][number] {
  const known = samplerNames.find((sampler) => sampler === value);
  if (known === undefined) {
    throw refusal(name, value, `one of ${samplerNames.join(', ')}`);
  }
  return known;
}

function biases(values: unknown): [number, number][] {
  if (typeof values !== 'object' || values === null) {
    throw refusal('logitBias', values, 'an object of token ids and numbers');
  }
  return Object.entries(values).map(([id, addend]: [string, unknown]) => [
    integer(`a token id of logitBias (${id})`, Number(id)),
    addend === -Infinity ? addend : finite(`logitBias[${id}]`, addend),
  ]);
}

function seedOf(seed: unknown, temperature: number): number {
  if (seed === undefined) {
    return temperature > 0 ? Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) : 0;
  }
  if (typeof seed !== 'number' || !Number.isSafeInteger(seed) || seed < 0) {
    throw refusal('seed', seed, 'a whole number of 0 or more');
  }
  return seed;
}

/** bad_argument, with name and value, for what is not of its type. */
export function samplingSettings(options: SamplingOptions): SamplingSettings {
  const settings = { ...defaults };
  for (const name of numbers) {
    const check = integers.includes(name) ? integer : finite;
    settings[name] = check(name, options[name] ?? defaults[name]);
  }
  const { drySequenceBreakers, logitBias, bannedTokens, samplers } = options;
  if (drySequenceBreakers !== undefined) {
    settings.drySequenceBreakers = list('drySequenceBreakers', drySequenceBreakers, breaker);
  }
  if (logitBias !== undefined) {
    settings.logitBias = biases(logitBias);
  }
  if (bannedTokens !== undefined) {
    settings.bannedTokens = list('bannedTokens', bannedTokens, integer);
  }
  if (samplers !== undefined) {
    settings.samplers = list('samplers', samplers, samplerName);
  }
  settings.seed = seedOf(options.seed, settings.temperature);
  return settings;
}

// SPDX-License-Identifier: MIT
// When an answer ends: the caller's options, checked and completed.

import { createError } from '../errors.js';
import type { GenerationRules } from '../protocol/data.js';
import type { GenerateOptions } from './types.js';

/** More is a mistake, and would make every token slow. */
const maxStops = 256;
const maxStopLength = 4096;
/** As many as anybody looks at; all of a vocabulary for each token would be megabytes. */
const maxLogprobs = 100;

export function rulesOf(options: GenerateOptions): GenerationRules {
  const {
    maxTokens = null,
    stopTokens = [],
    ignoreEos = false,
    contextOverflow = 'stop',
    keepTokens = 4,
    logprobs = null,
  } = options;
  const stop = typeof options.stop === 'string' ? [options.stop] : (options.stop ?? []);
  if (maxTokens !== null) {
    checkCount('maxTokens', maxTokens);
  }
  checkCount('keepTokens', keepTokens);
  if (logprobs !== null) {
    checkCount('logprobs', logprobs, maxLogprobs);
  }
  checkStops(stop);
  for (const token of stopTokens) {
    checkCount('stopTokens', token);
  }
  if (stopTokens.length > maxStops) {
    throw createError('bad_argument', `${stopTokens.length} stopTokens, at most ${maxStops} are possible`);
  }
  if (contextOverflow !== 'stop' && contextOverflow !== 'shift') {
    throw createError(
      'bad_argument',
      `contextOverflow is ${String(contextOverflow)}, expected 'stop' or 'shift'`,
    );
  }
  return {
    maxTokens,
    stop: [...stop],
    stopTokens: [...stopTokens],
    ignoreEos,
    overflow: contextOverflow,
    keepTokens,
    logprobs,
  };
}

function checkCount(name: string, value: number, most = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw createError('bad_argument', `${name} is ${value}, expected a whole number from 0 to ${most}`, {
      details: { [name]: value },
    });
  }
}

function checkStops(stops: readonly string[]): void {
  if (stops.length > maxStops) {
    throw createError('bad_argument', `${stops.length} stop strings, at most ${maxStops} are possible`);
  }
  for (const stop of stops) {
    if (typeof stop !== 'string' || stop === '' || stop.length > maxStopLength) {
      throw createError('bad_argument', `a stop string must have 1 to ${maxStopLength} characters`, {
        details: { stop },
      });
    }
  }
}

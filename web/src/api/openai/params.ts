// SPDX-License-Identifier: MIT
// Parameters as OpenAI spells them -> options as this package does. What cannot be meant is refused by name; what changes
// nothing about an answer (`user`, `metadata`, …) is let pass.

import { createError, type LayerstreamError } from '../../errors.js';
import type { CompleteOptions, GenerateOptions } from '../types.js';
import type { ChatCompletionParams, CompletionParams, RequestOptions } from './types.js';

/** About accounts, storage and speed at OpenAI. */
const withoutMeaning = [
  'model',
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
];
const sampling = [
  ...['temperature', 'top_p', 'top_k', 'min_p', 'frequency_penalty', 'presence_penalty', 'repeat_penalty'],
  ...['logit_bias', 'seed', 'stop', 'n', 'stream', 'stream_options', 'max_tokens', 'logprobs'],
];
const chatOnly = ['messages', 'max_completion_tokens', 'top_logprobs', 'tools', 'tool_choice'];

const known = {
  chat: new Set([...withoutMeaning, ...sampling, ...chatOnly]),
  completion: new Set([...withoutMeaning, ...sampling, 'prompt']),
  embedding: new Set([...withoutMeaning, 'input', 'encoding_format']),
};

export function notSupported(name: string, value: unknown): LayerstreamError {
  return createError('bad_argument', `${name} (${JSON.stringify(value)}) is not supported by a local model`, {
    details: { parameter: name },
  });
}

/** Throws for the first parameter that is given and not known. */
export function checkParams(kind: keyof typeof known, params: object): void {
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && !known[kind].has(name)) {
      throw notSupported(name, value);
    }
  }
}

/** Sampling and ends. A parameter that is null is one that is left out. */
export function generateOptions(
  params: ChatCompletionParams | CompletionParams,
  { signal }: RequestOptions,
  defaults: { maxTokens?: number } = {},
): GenerateOptions {
  if ((params.n ?? 1) !== 1) {
    throw notSupported('n', params.n);
  }
  const longest = 'max_completion_tokens' in params ? params.max_completion_tokens : null;
  const given: { [K in keyof CompleteOptions]: CompleteOptions[K] | null | undefined } = {
    temperature: params.temperature ?? 1,
    topP: params.top_p,
    topK: params.top_k,
    minP: params.min_p,
    frequencyPenalty: params.frequency_penalty,
    presencePenalty: params.presence_penalty,
    repeatPenalty: params.repeat_penalty,
    logitBias: params.logit_bias,
    seed: params.seed,
    stop: params.stop,
    maxTokens: longest ?? params.max_tokens ?? defaults.maxTokens,
    signal,
  };
  // A penalty of OpenAI's looks at the whole text.
  const looksBack = (params.frequency_penalty ?? 0) !== 0 || (params.presence_penalty ?? 0) !== 0;
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
    ...(looksBack ? { repeatLastN: -1 } : {}),
  };
}

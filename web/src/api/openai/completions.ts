// SPDX-License-Identifier: MIT
// completions.create.

import type { CompleteOptions, Generation, GenerationChunk } from '../types.js';
import { identity, reasonOf, respond, TokenTexts, usageOf } from './answers.js';
import { checkParams, generateOptions, notSupported } from './params.js';
import type {
  AnsweringModel,
  Completion,
  CompletionChunk,
  CompletionLogprobs,
  CompletionParams,
  CompletionStream,
  RequestOptions,
} from './types.js';

/** As OpenAI's. */
const defaultMaxTokens = 16;

function isIds(prompt: readonly unknown[]): prompt is readonly number[] {
  return prompt.every((item) => typeof item === 'number');
}

/** One prompt; a list of one is one as well. */
function promptOf(prompt: CompletionParams['prompt']): string | readonly number[] {
  if (typeof prompt === 'string') {
    return prompt;
  }
  if (prompt === null) {
    throw notSupported('prompt', prompt);
  }
  if (prompt.length > 0 && isIds(prompt)) {
    return prompt;
  }
  const [only, ...more] = prompt;
  if (only === undefined || typeof only === 'number' || more.length > 0) {
    throw notSupported('prompt', `a list of ${prompt.length}`);
  }
  return only;
}

/** `from`: characters of the answer before this chunk. */
async function logprobsOf(
  { logprobs }: Pick<GenerationChunk, 'logprobs'>,
  texts: TokenTexts,
  from: number,
): Promise<CompletionLogprobs | null> {
  if (logprobs === undefined) {
    return null;
  }
  const tokens = await Promise.all(logprobs.map(({ token }) => texts.of(token)));
  let offset = from;
  return {
    tokens,
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: await Promise.all(
      logprobs.map(async ({ top }) => {
        const pairs = top.map(async ({ token, logprob }) => [await texts.of(token), logprob] as const);
        return Object.fromEntries(await Promise.all(pairs));
      }),
    ),
    text_offset: tokens.map((text) => {
      offset += text.length;
      return offset - text.length;
    }),
  };
}

export async function createCompletion(
  model: AnsweringModel,
  params: CompletionParams,
  options: RequestOptions,
): Promise<Completion | CompletionStream<CompletionChunk>> {
  checkParams('completion', params);
  const base = identity('cmpl', params.model, model.info.name);
  const texts = new TokenTexts(model);
  const prompt = promptOf(params.prompt);
  const settings: CompleteOptions = generateOptions(params, options, { maxTokens: defaultMaxTokens });
  if (typeof params.logprobs === 'number') {
    settings.logprobs = params.logprobs;
  }
  const start = (signal?: AbortSignal): Generation =>
    model.complete(prompt, signal === undefined ? settings : { ...settings, signal });
  return respond(params, options, start, {
    chunks: (generation, withUsage) => chunksOf(generation, base, texts, withUsage),
    whole: async ({ text, chunks, finishReason, stats }) => {
      const all =
        settings.logprobs === undefined ? {} : { logprobs: chunks.flatMap((chunk) => chunk.logprobs ?? []) };
      const choice = {
        index: 0,
        text,
        logprobs: await logprobsOf(all, texts, 0),
        finish_reason: reasonOf(finishReason),
      };
      return { ...base, object: 'text_completion' as const, choices: [choice], usage: usageOf(stats) };
    },
  });
}

async function* chunksOf(
  generation: Generation,
  base: ReturnType<typeof identity>,
  texts: TokenTexts,
  withUsage: boolean,
): AsyncGenerator<CompletionChunk, undefined> {
  const usage = withUsage ? { usage: null } : {};
  let length = 0;
  for await (const { text, finishReason, stats, ...part } of generation) {
    const logprobs = await logprobsOf(part, texts, length);
    length += text.length;
    const reason = finishReason === undefined ? null : reasonOf(finishReason);
    const choice = { index: 0, text, logprobs, finish_reason: reason };
    yield { ...base, object: 'text_completion', choices: [choice], ...usage };
    if (withUsage && stats !== undefined) {
      yield { ...base, object: 'text_completion', choices: [], usage: usageOf(stats) };
    }
  }
}

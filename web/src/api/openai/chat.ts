// SPDX-License-Identifier: MIT
// chat.completions.create.

import type { ChatOptions, Generation, GenerationChunk } from '../types.js';
import { identity, reasonOf, respond, TokenTexts, usageOf } from './answers.js';
import { checkParams, generateOptions, notSupported } from './params.js';
import type {
  AnsweringModel,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionParams,
  ChatLogprobs,
  CompletionStream,
  RequestOptions,
} from './types.js';

function chatOptions(params: ChatCompletionParams, options: RequestOptions): ChatOptions {
  const { tools, tool_choice: choice = 'auto', logprobs, top_logprobs: top } = params;
  if (choice !== 'auto' && choice !== 'none') {
    throw notSupported('tool_choice', choice);
  }
  return {
    ...generateOptions(params, options),
    ...(tools !== undefined && choice === 'auto' ? { tools } : {}),
    ...(logprobs === true ? { logprobs: top ?? 0 } : {}),
  };
}

async function logprobsOf(
  chunk: Pick<GenerationChunk, 'logprobs'>,
  texts: TokenTexts,
): Promise<ChatLogprobs | null> {
  if (chunk.logprobs === undefined) {
    return null;
  }
  const one = async ({ token, logprob }: { token: number; logprob: number }) => ({
    token: await texts.of(token),
    bytes: null,
    logprob,
  });
  const content = await Promise.all(
    chunk.logprobs.map(async ({ top, ...drawn }) => ({
      ...(await one(drawn)),
      top_logprobs: await Promise.all(top.map(one)),
    })),
  );
  return { content, refusal: null };
}

export async function createChatCompletion(
  model: AnsweringModel,
  params: ChatCompletionParams,
  options: RequestOptions,
): Promise<ChatCompletion | CompletionStream<ChatCompletionChunk>> {
  checkParams('chat', params);
  const base = identity('chatcmpl', params.model, model.info.name);
  const texts = new TokenTexts(model);
  const settings = chatOptions(params, options);
  const start = (signal?: AbortSignal): Generation =>
    model.chat(params.messages, signal === undefined ? settings : { ...settings, signal });
  return respond(params, options, start, {
    chunks: (generation, withUsage) => chunksOf(generation, base, texts, withUsage),
    whole: async ({ text, chunks, finishReason, stats }) => {
      const logprobs = params.logprobs === true ? chunks.flatMap((chunk) => chunk.logprobs ?? []) : undefined;
      const choice = {
        index: 0,
        message: { role: 'assistant' as const, content: text, refusal: null },
        logprobs: await logprobsOf(logprobs === undefined ? {} : { logprobs }, texts),
        finish_reason: reasonOf(finishReason),
      };
      return { ...base, object: 'chat.completion' as const, choices: [choice], usage: usageOf(stats) };
    },
  });
}

async function* chunksOf(
  generation: Generation,
  base: ReturnType<typeof identity>,
  texts: TokenTexts,
  withUsage: boolean,
): AsyncGenerator<ChatCompletionChunk, undefined> {
  const usage = withUsage ? { usage: null } : {};
  const chunk = (
    delta: ChatCompletionChunk['choices'][number]['delta'],
    logprobs: ChatLogprobs | null = null,
    reason: 'stop' | 'length' | null = null,
  ): ChatCompletionChunk => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs, finish_reason: reason }],
    ...usage,
  });
  yield chunk({ role: 'assistant', content: '' });
  for await (const part of generation) {
    if (part.finishReason === undefined) {
      yield chunk({ content: part.text }, await logprobsOf(part, texts));
      continue;
    }
    yield chunk({}, null, reasonOf(part.finishReason));
    if (withUsage && part.stats !== undefined) {
      yield { ...base, object: 'chat.completion.chunk', choices: [], usage: usageOf(part.stats) };
    }
  }
}

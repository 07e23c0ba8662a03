// SPDX-License-Identifier: MIT
// Our answers are of the types of the `openai` package, so code that was written for it takes our client. Compiled only.

import type OpenAI from 'openai';
import {
  openAIClient,
  type ChatCompletion,
  type ChatCompletionChunk,
  type Completion,
  type EmbeddingList,
  type Model,
  type OpenAIClient,
} from 'layerstream';

export const chatCompletion = (ours: ChatCompletion): OpenAI.ChatCompletion => ours;
export const chatCompletionChunk = (ours: ChatCompletionChunk): OpenAI.ChatCompletionChunk => ours;
export const completion = (ours: Completion): OpenAI.Completion => ours;
export const embeddingList = (ours: EmbeddingList): OpenAI.CreateEmbeddingResponse => ours;

/** The part of OpenAI's client that an application uses, in OpenAI's own types. */
interface TheirClient {
  chat: {
    completions: {
      create(
        params: OpenAI.ChatCompletionCreateParamsStreaming,
        options?: { signal?: AbortSignal },
      ): Promise<AsyncIterable<OpenAI.ChatCompletionChunk>>;
      create(params: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<OpenAI.ChatCompletion>;
    };
  };
  completions: {
    create(params: OpenAI.CompletionCreateParamsNonStreaming): Promise<OpenAI.Completion>;
  };
  embeddings: {
    create(
      params: Omit<OpenAI.EmbeddingCreateParams, 'encoding_format'>,
    ): Promise<OpenAI.CreateEmbeddingResponse>;
  };
}
export const client = (ours: OpenAIClient): TheirClient => ours;

/** Code as one writes it for OpenAI. */
export async function application(openai: TheirClient | OpenAI, signal: AbortSignal): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello!' }];
  const whole = await (openai as TheirClient).chat.completions.create({ model: 'any', messages });
  return `${whole.choices[0]?.message.content ?? ''} ${String(signal.aborted)}`;
}

export async function overloads(model: Model): Promise<void> {
  const openai = openAIClient(model);
  const stream = await openai.chat.completions.create({ messages: [], stream: true });
  for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content);
  stream.controller.abort();
  const whole = await openai.chat.completions.create({ messages: [] });
  console.log(whole.choices[0]?.message.content, whole.usage.total_tokens);
  // @ts-expect-error: a stream has no choices of its own
  console.log(stream.choices);
  const floats: number[] | undefined = (await openai.embeddings.create({ input: 'a' })).data[0]?.embedding;
  const packed = await openai.embeddings.create({ input: 'a', encoding_format: 'base64' });
  const text: string | undefined = packed.data[0]?.embedding;
  console.log(floats, text);
}

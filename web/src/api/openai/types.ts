// SPDX-License-Identifier: MIT
// Requests and answers in the shape of OpenAI's API, as far as a local model can mean them. A type test compares them with
// the types of the `openai` package.

import type { ChatMessage, Model } from '../types.js';

/** As OpenAI spells them; `top_k`, `min_p` and `repeat_penalty` as other local servers do. */
interface SamplingParams {
  /** Default 1, as OpenAI's; 0 is greedy. */
  temperature?: number | null;
  top_p?: number | null;
  top_k?: number | null;
  min_p?: number | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  repeat_penalty?: number | null;
  logit_bias?: Record<string, number> | null;
  seed?: number | null;
  stop?: string | string[] | null;
  /** Only 1. */
  n?: number | null;
  stream_options?: { include_usage?: boolean } | null;
  /** Any; given back in the answer. */
  model?: string;
  user?: string;
}

export interface ChatCompletionParams extends SamplingParams {
  messages: readonly ChatMessage[];
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  /** For templates that know tools. The answer is text: calls in it are not parsed. */
  tools?: readonly unknown[];
  /** 'auto' or 'none': nothing can be forced. */
  tool_choice?: 'auto' | 'none' | (string & {}) | object;
  stream?: boolean | null;
}

export interface CompletionParams extends SamplingParams {
  prompt: string | readonly string[] | readonly number[] | readonly (readonly number[])[] | null;
  /** Default 16, as OpenAI's. */
  max_tokens?: number | null;
  /** So many most probable tokens with each. */
  logprobs?: number | null;
  stream?: boolean | null;
}

export interface EmbeddingParams {
  input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  encoding_format?: 'float' | 'base64';
  model?: string;
  user?: string;
}

export interface RequestOptions {
  signal?: AbortSignal | null;
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
}

export interface OpenAITokenLogprob {
  token: string;
  bytes: number[] | null;
  logprob: number;
}
export interface ChatLogprobs {
  content: (OpenAITokenLogprob & { top_logprobs: OpenAITokenLogprob[] })[];
  refusal: null;
}
export interface CompletionLogprobs {
  tokens: string[];
  token_logprobs: number[];
  top_logprobs: Record<string, number>[];
  text_offset: number[];
}

interface Answer<Name extends string> {
  id: string;
  object: Name;
  /** Seconds since 1970. */
  created: number;
  model: string;
}

export interface ChatCompletion extends Answer<'chat.completion'> {
  choices: {
    index: number;
    message: { role: 'assistant'; content: string; refusal: null };
    logprobs: ChatLogprobs | null;
    finish_reason: 'stop' | 'length';
  }[];
  usage: CompletionUsage;
}
export interface ChatCompletionChunk extends Answer<'chat.completion.chunk'> {
  choices: {
    index: number;
    delta: { role?: 'assistant'; content?: string };
    logprobs: ChatLogprobs | null;
    finish_reason: 'stop' | 'length' | null;
  }[];
  /** With `include_usage`: null in all chunks but the last, which has no choices. */
  usage?: CompletionUsage | null;
}
export interface Completion extends Answer<'text_completion'> {
  choices: {
    index: number;
    text: string;
    logprobs: CompletionLogprobs | null;
    finish_reason: 'stop' | 'length';
  }[];
  usage?: CompletionUsage;
}
/** A piece of a streamed completion; the reason is null in all but the last. */
export interface CompletionChunk extends Answer<'text_completion'> {
  choices: {
    index: number;
    text: string;
    logprobs: CompletionLogprobs | null;
    finish_reason: 'stop' | 'length' | null;
  }[];
  usage?: CompletionUsage | null;
}
export interface EmbeddingList {
  object: 'list';
  data: { object: 'embedding'; index: number; embedding: number[] }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
}
/** With `encoding_format: 'base64'`: little-endian float32. */
export interface Base64EmbeddingList extends Omit<EmbeddingList, 'data'> {
  data: { object: 'embedding'; index: number; embedding: string }[];
}

/** Iterate once; `controller.abort()` ends the answer, and so does leaving the loop. */
export interface CompletionStream<Chunk> extends AsyncIterable<Chunk> {
  readonly controller: AbortController;
}

/** The part of OpenAI's client that a loaded model can be. */
export interface OpenAIClient {
  readonly chat: {
    readonly completions: {
      create(
        params: ChatCompletionParams & { stream: true },
        options?: RequestOptions,
      ): Promise<CompletionStream<ChatCompletionChunk>>;
      create(
        params: ChatCompletionParams & { stream?: false | null },
        options?: RequestOptions,
      ): Promise<ChatCompletion>;
    };
  };
  readonly completions: {
    create(
      params: CompletionParams & { stream: true },
      options?: RequestOptions,
    ): Promise<CompletionStream<CompletionChunk>>;
    create(
      params: CompletionParams & { stream?: false | null },
      options?: RequestOptions,
    ): Promise<Completion>;
  };
  readonly embeddings: {
    create(
      params: EmbeddingParams & { encoding_format: 'base64' },
      options?: RequestOptions,
    ): Promise<Base64EmbeddingList>;
    create(
      params: EmbeddingParams & { encoding_format?: 'float' },
      options?: RequestOptions,
    ): Promise<EmbeddingList>;
  };
}

/** What openAIClient uses of a model. */
export type AnsweringModel = Pick<Model, 'info' | 'chat' | 'complete' | 'embed' | 'detokenize'>;

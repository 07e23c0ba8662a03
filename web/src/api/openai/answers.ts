// SPDX-License-Identifier: MIT
// What chat completions and completions have in common: identity, usage, reasons, texts of tokens, the two ways an answer comes.

import { createError } from '../../errors.js';
import type { FinishReason, Generation, GenerationChunk, GenerationStats } from '../types.js';
import type {
  AnsweringModel,
  ChatCompletionParams,
  CompletionStream,
  CompletionUsage,
  RequestOptions,
} from './types.js';

let answers = 0;

/** `prefix` is 'chatcmpl' or 'cmpl'. */
export function identity(
  prefix: string,
  model: string | undefined,
  name: string,
): { id: string; created: number; model: string } {
  answers += 1;
  const created = Math.floor(Date.now() / 1000);
  return { id: `${prefix}-${created.toString(36)}-${answers}`, created, model: model ?? name };
}

export function usageOf(stats: GenerationStats): CompletionUsage {
  const { promptTokens, completionTokens, reusedTokens } = stats;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: reusedTokens },
  };
}

/** A full context is, to OpenAI, an answer that got too long. */
export function reasonOf(reason: FinishReason): 'stop' | 'length' {
  return reason === 'length' || reason === 'context' ? 'length' : 'stop';
}

/** Texts of single tokens, control tokens included. */
export class TokenTexts {
  readonly #model: Pick<AnsweringModel, 'detokenize'>;
  readonly #known = new Map<number, Promise<string>>();

  constructor(model: Pick<AnsweringModel, 'detokenize'>) {
    this.#model = model;
  }

  of(token: number): Promise<string> {
    let text = this.#known.get(token);
    if (text === undefined) {
      text = this.#model.detokenize([token], { withControl: true });
      this.#known.set(token, text);
    }
    return text;
  }
}

/** A stream whose controller, whose reader's leaving, and whose caller's signal all end the answer. */
function streamOf<Chunk>(
  options: RequestOptions,
  answer: (signal: AbortSignal) => Generation,
  chunksOf: (generation: Generation) => AsyncIterable<Chunk>,
): CompletionStream<Chunk> {
  const controller = new AbortController();
  const signals = options.signal ? [controller.signal, options.signal] : [controller.signal];
  const chunks = chunksOf(answer(AbortSignal.any(signals)));
  return { controller, [Symbol.asyncIterator]: () => chunks[Symbol.asyncIterator]() };
}

export interface WholeAnswer {
  text: string;
  /** In order, of all chunks. */
  chunks: GenerationChunk[];
  finishReason: FinishReason;
  stats: GenerationStats;
}

/** An answer as `params` ask for it: as a stream of chunks, or whole. */
export async function respond<Whole, Chunk>(
  params: Pick<ChatCompletionParams, 'stream' | 'stream_options'>,
  options: RequestOptions,
  start: (signal?: AbortSignal) => Generation,
  shape: {
    chunks: (generation: Generation, withUsage: boolean) => AsyncIterable<Chunk>;
    whole: (answer: WholeAnswer) => Promise<Whole>;
  },
): Promise<Whole | CompletionStream<Chunk>> {
  if (params.stream !== true) {
    return shape.whole(await wholeAnswer(start()));
  }
  const withUsage = params.stream_options?.include_usage === true;
  return streamOf(options, start, (generation) => shape.chunks(generation, withUsage));
}

async function wholeAnswer(generation: Generation): Promise<WholeAnswer> {
  const chunks: GenerationChunk[] = [];
  for await (const chunk of generation) {
    chunks.push(chunk);
  }
  const { finishReason, stats } = chunks.at(-1) ?? {};
  if (finishReason === undefined || stats === undefined) {
    throw createError('internal', 'an answer ended without saying why');
  }
  return { text: chunks.map(({ text }) => text).join(''), chunks, finishReason, stats };
}

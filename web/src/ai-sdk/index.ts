// SPDX-License-Identifier: MIT
// `layerstream/ai-sdk`: a loaded model as a model of the Vercel AI SDK (provider specification v4, `ai` 7).

import type {
  EmbeddingModelV4,
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { EmbedOptions, FinishReason, Generation, GenerationStats, Model } from '../index.js';
import { chatOptions, messagesOf, warningsOf } from './prompt.js';

const provider = 'layerstream';
const textId = '0';

function usageOf(stats: GenerationStats | undefined): LanguageModelV4Usage {
  const { promptTokens, reusedTokens, completionTokens } = stats ?? {};
  return {
    inputTokens: {
      total: promptTokens,
      noCache: promptTokens === undefined ? undefined : promptTokens - (reusedTokens ?? 0),
      cacheRead: reusedTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: completionTokens, text: completionTokens, reasoning: undefined },
  };
}

/** A full context is, to the SDK, an answer that got too long. */
function reasonOf(reason: FinishReason | undefined): LanguageModelV4FinishReason {
  const unified =
    reason === 'stop' ? 'stop' : reason === 'length' || reason === 'context' ? 'length' : 'other';
  return { unified, raw: reason };
}

async function* partsOf(
  generation: Generation,
  start: LanguageModelV4StreamPart,
): AsyncGenerator<LanguageModelV4StreamPart, undefined> {
  yield start;
  yield { type: 'text-start', id: textId };
  for await (const { text, finishReason, stats } of generation) {
    if (text !== '') {
      yield { type: 'text-delta', id: textId, delta: text };
    }
    if (finishReason !== undefined) {
      yield { type: 'text-end', id: textId };
      yield { type: 'finish', usage: usageOf(stats), finishReason: reasonOf(finishReason) };
    }
  }
}

/** Pulls, so that nothing is made that nobody reads; cancelling ends the answer. */
function streamOf<T>(items: AsyncGenerator<T, undefined>): ReadableStream<T> {
  return new ReadableStream<T>({
    pull: async (controller) => {
      const { done, value } = await items.next();
      if (done === true) {
        controller.close();
      } else {
        controller.enqueue(value);
      }
    },
    cancel: async () => void (await items.return(undefined)),
  });
}

/**
 * The model for `streamText`, `generateText` and their like. What the SDK offers and a local model cannot do comes as a warning.
 *
 * @example
 * const { textStream } = streamText({ model: languageModel(model), prompt: 'Hello!' });
 * for await (const text of textStream) console.log(text);
 */
export function languageModel(model: Pick<Model, 'info' | 'chat'>): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider,
    modelId: model.info.name,
    supportedUrls: {},
    doGenerate: async (options): Promise<LanguageModelV4GenerateResult> => {
      let text = '';
      let finishReason: FinishReason | undefined;
      let stats: GenerationStats | undefined;
      for await (const chunk of model.chat(messagesOf(options.prompt), chatOptions(options))) {
        text += chunk.text;
        ({ finishReason, stats } = chunk);
      }
      return {
        content: [{ type: 'text', text }],
        finishReason: reasonOf(finishReason),
        usage: usageOf(stats),
        warnings: warningsOf(options),
      };
    },
    doStream: async (options) => {
      const generation = model.chat(messagesOf(options.prompt), chatOptions(options));
      const start = { type: 'stream-start', warnings: warningsOf(options) } as const;
      return { stream: streamOf(partsOf(generation, start)) };
    },
  };
}

/**
 * The model for `embed` and `embedMany`.
 *
 * @example
 * const { embedding } = await embed({ model: embeddingModel(model), value: 'Cats sleep.' });
 */
export function embeddingModel(
  model: Pick<Model, 'info' | 'embed'>,
  options: Pick<EmbedOptions, 'pooling' | 'normalize'> = {},
): EmbeddingModelV4 {
  return {
    specificationVersion: 'v4',
    provider,
    modelId: model.info.name,
    maxEmbeddingsPerCall: undefined,
    supportsParallelCalls: false,
    doEmbed: async ({ values, abortSignal, dimensions }) => {
      const signal = abortSignal === undefined ? {} : { signal: abortSignal };
      const { embeddings, usage } = await model.embed(values, { ...options, ...signal });
      return {
        embeddings: embeddings.map((vector) => [...vector]),
        usage: { tokens: usage.promptTokens },
        warnings: dimensions === undefined ? [] : [{ type: 'unsupported', feature: 'dimensions' }],
      };
    },
  };
}

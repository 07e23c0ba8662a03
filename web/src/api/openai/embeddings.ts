// SPDX-License-Identifier: MIT
// embeddings.create.

import { checkParams, notSupported } from './params.js';
import type {
  AnsweringModel,
  Base64EmbeddingList,
  EmbeddingList,
  EmbeddingParams,
  RequestOptions,
} from './types.js';

type Input = string | readonly number[];

function inputsOf(input: EmbeddingParams['input']): Input[] {
  if (typeof input === 'string') {
    return [input];
  }
  const inputs: Input[] = [];
  const ids: number[] = [];
  for (const item of input) {
    if (typeof item === 'number') {
      ids.push(item);
    } else {
      inputs.push(item);
    }
  }
  return ids.length > 0 ? [ids, ...inputs] : inputs;
}

/** Little-endian float32. */
function base64Of(vector: Float32Array): string {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  vector.forEach((value, index) => view.setFloat32(index * 4, value, true));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

export async function createEmbeddings(
  model: AnsweringModel,
  params: EmbeddingParams,
  { signal }: RequestOptions,
): Promise<EmbeddingList | Base64EmbeddingList> {
  checkParams('embedding', params);
  const { encoding_format: format = 'float' } = params;
  if (format !== 'float' && format !== 'base64') {
    throw notSupported('encoding_format', format);
  }
  const { embeddings, usage } = await model.embed(inputsOf(params.input), signal ? { signal } : {});
  const answer = {
    object: 'list' as const,
    model: params.model ?? model.info.name,
    usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens },
  };
  const object = 'embedding' as const;
  return format === 'base64'
    ? { ...answer, data: embeddings.map((vector, index) => ({ object, index, embedding: base64Of(vector) })) }
    : { ...answer, data: embeddings.map((vector, index) => ({ object, index, embedding: [...vector] })) };
}

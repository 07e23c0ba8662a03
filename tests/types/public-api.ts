// SPDX-License-Identifier: MIT
// Pins the public types: this file is compiled, never run. A change that breaks it breaks users.

import {
  capabilities,
  deleteModel,
  LayerstreamError,
  listModels,
  loadModel,
  NetworkError,
  renderChat,
  StorageQuotaError,
  type ErrorCode,
  type Generation,
  type GenerationChunk,
  type Model,
  type SamplingOptions,
  type StoredModel,
} from 'layerstream';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_T extends true>(): void => undefined;

export async function readmeExample(signal: AbortSignal): Promise<string> {
  await using model = await loadModel('/models/tiny.gguf', {
    memoryBudget: 200 * 2 ** 20,
    onProgress: ({ phase, loadedBytes, totalBytes }) => console.log(phase, loadedBytes / totalBytes),
  });
  for await (const { text } of model.chat([{ role: 'user', content: 'Hello!' }], { signal })) {
    console.log(text);
  }
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const parts = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
  await model.chat(parts, { tools, template: 'tool_use', variables: { enable_thinking: false } }).text();
  // @ts-expect-error: content is text, parts or null
  model.chat([{ role: 'user', content: 5 }]);
  return model.complete('Once upon a time', { maxTokens: 20, temperature: 0.7, seed: 1 }).text();
}

export async function sources(file: File, files: File[]): Promise<void> {
  const models: Model[] = [
    await loadModel(file),
    await loadModel(files),
    await loadModel(new URL('https://h/m.gguf')),
  ];
  await loadModel('m.gguf', { memoryBudget: 'min', contextLength: 512, kvType: 'f32', headers: { a: 'b' } });
  // @ts-expect-error: a budget is a number of bytes or 'min'
  await loadModel('m.gguf', { memoryBudget: '200 MiB' });
  // @ts-expect-error: options are spelled right
  await loadModel('m.gguf', { contextlength: 512 });
  await Promise.all(models.map((model) => model.dispose()));
}

export const sampling: SamplingOptions = {
  temperature: 0.8,
  logitBias: { 5: -Infinity },
  samplers: ['top_k', 'temperature'],
  // @ts-expect-error: only version 2
  mirostat: 1,
};
// @ts-expect-error: steps are a closed list
export const unknownStep: SamplingOptions = { samplers: ['topK'] };

export function errors(error: unknown): string {
  if (error instanceof StorageQuotaError || error instanceof NetworkError) {
    return String(error.details['neededBytes']);
  }
  if (error instanceof LayerstreamError) {
    const code: ErrorCode = error.code;
    // @ts-expect-error: codes are a closed list
    return code === 'no_such_code' ? '' : code;
  }
  return '';
}

holds<Equal<ReturnType<Model['chat']>, Generation>>();
holds<Equal<Awaited<ReturnType<typeof listModels>>, StoredModel[]>>();
holds<Equal<Awaited<ReturnType<typeof deleteModel>>, boolean>>();
holds<Equal<Awaited<ReturnType<typeof renderChat>>, string>>();
holds<Equal<Awaited<ReturnType<typeof capabilities>>['simd'], boolean>>();
holds<Equal<GenerationChunk['finishReason'], 'stop' | 'length' | 'context' | 'abort' | undefined>>();

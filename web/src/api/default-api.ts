// SPDX-License-Identifier: MIT
// The API of a real page.

import { browserHost } from './browser-host.js';
import { createApi } from './package-api.js';
import { StoredModels } from './stored-models.js';
import type {
  ImportOptions,
  LoadOptions,
  Model,
  ModelCheck,
  ModelPlan,
  ModelSource,
  PlanOptions,
  StoredModel,
  StoredModelOptions,
} from './types.js';

const api = createApi(browserHost);

/**
 * Downloads the model unless it is stored, and opens it in a worker of its own.
 *
 * @example
 * const model = await loadModel('/models/tiny.gguf', { memoryBudget: 200 * 2 ** 20 });
 * for await (const { text } of model.chat([{ role: 'user', content: 'Hello!' }])) console.log(text);
 */
export function loadModel(source: ModelSource, options?: LoadOptions): Promise<Model> {
  return api.loadModel(source, options);
}

/**
 * How loadModel would spend its memory, from the header alone, and about how fast that would be here. Rejects with
 * `budget_too_small` and the numbers (`details.neededBytes`, …) when even the smallest plan does not fit.
 *
 * @example
 * const { memory, readBytesPerToken, estimate } = await planModel('/models/8b.gguf', { memoryBudget: 400 * 2 ** 20 });
 */
export function planModel(source: ModelSource, options?: PlanOptions): Promise<ModelPlan> {
  return api.planModel(source, options);
}

/**
 * Models in this browser's storage, interrupted downloads included (`complete: false`).
 *
 * @example
 * for (const { url, bytes, complete } of await listModels()) console.log(url, bytes, complete);
 */
export function listModels(): Promise<StoredModel[]> {
  return api.listModels();
}

/**
 * Removes a stored model. false: there was none. Rejects with `storage_busy` while it is loaded.
 *
 * @example
 * await deleteModel('/models/tiny.gguf');
 */
export function deleteModel(url: string | URL): Promise<boolean> {
  return api.deleteModel(url);
}

/**
 * Compares all that is stored of a model with its hashes. null: nothing is.
 *
 * @example
 * const check = await verifyModel('/models/tiny.gguf');
 * if (check) for (const { part, offset, bytes } of check.damaged) console.log(part, offset, bytes);
 */
export function verifyModel(url: string | URL, options?: StoredModelOptions): Promise<ModelCheck | null> {
  return new StoredModels(api).verify(url, options);
}

/**
 * The bytes of a stored model, or of one part of it, as they were downloaded.
 *
 * @example
 * const file = await new Response(exportModel('/models/tiny.gguf')).blob();
 */
export function exportModel(
  url: string | URL,
  options?: { part?: number; signal?: AbortSignal },
): ReadableStream<Uint8Array> {
  return new StoredModels(api).export(url, options);
}

/**
 * Copies a file (or the files of a split model) into the store; loadModel(key) then loads it. To use a file without a
 * copy, give it to loadModel.
 *
 * @example
 * const file = new File([await (await fetch('/models/tiny.gguf')).blob()], 'tiny.gguf');
 * const model = await loadModel(await importFile(file));
 */
export function importFile(file: File | readonly File[], options?: ImportOptions): Promise<string> {
  return new StoredModels(api).import(file, options);
}

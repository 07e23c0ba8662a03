// SPDX-License-Identifier: MIT
// The API of a real page.

import { browserHost } from './browser-host.js';
import { createApi } from './package-api.js';
import type { LoadOptions, Model, ModelPlan, ModelSource, PlanOptions, StoredModel } from './types.js';

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

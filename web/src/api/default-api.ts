// SPDX-License-Identifier: MIT
// The API of a real page.

import { browserHost } from './browser-host.js';
import { createApi } from './package-api.js';
import type { LoadOptions, Model, ModelSource, StoredModel } from './types.js';

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

/** Models in this browser's storage, interrupted downloads included (`complete: false`). */
export function listModels(): Promise<StoredModel[]> {
  return api.listModels();
}

/** Removes a stored model. false: there was none. Rejects with `storage_busy` while it is loaded. */
export function deleteModel(url: string | URL): Promise<boolean> {
  return api.deleteModel(url);
}

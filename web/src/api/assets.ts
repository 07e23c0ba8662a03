// SPDX-License-Identifier: MIT
// Where workers and wasm modules are, for pages whose bundler does not follow `new URL(…, import.meta.url)`.

import { createError } from '../errors.js';

let base: URL | null = null;

/**
 * Tells where the package's `dist` folder is served, when it was copied beside the page. Needed only with bundlers that do
 * not find workers by themselves (esbuild); call it before the first loadModel.
 *
 * @example
 * setAssetBase('/layerstream/'); // cp -r node_modules/layerstream/dist public/layerstream
 */
export function setAssetBase(url: string | URL): void {
  const text = String(url);
  try {
    base = new URL(text.endsWith('/') ? text : `${text}/`, globalThis.document?.baseURI);
  } catch (error) {
    throw createError('bad_argument', `"${text}" is not an URL`, { cause: error });
  }
}

/** Of a file below `dist`; null: where the bundler has put it. */
export function assetUrl(file: string): URL | null {
  return base === null ? null : new URL(file, base);
}

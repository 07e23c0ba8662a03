// SPDX-License-Identifier: MIT
// The part of the engine worker that answering does not need. One module, loaded as a whole.

export { Embedder } from './embedder.js';
export { planFromHeaders } from './plan-model.js';

// SPDX-License-Identifier: MIT
// The part of the engine worker that answers of models in memory do not need. One module, loaded as a whole.

export { Embedder } from './embedder.js';
export { planFromHeaders } from './plan-model.js';
export { readOrder } from './read-order.js';
export { RingReads } from './ring-reads.js';

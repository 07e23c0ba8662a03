// SPDX-License-Identifier: MIT
// The least that a page imports, for the measure of sizes (.size-limit.json).
export { loadModel } from 'layerstream';

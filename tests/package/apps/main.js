// SPDX-License-Identifier: MIT
// For bundlers that follow `new URL(…, import.meta.url)`: Vite and webpack.
import { loadModel } from 'layerstream';
import { run } from './run.js';

void run({ loadModel });

// SPDX-License-Identifier: MIT
// Without a bundler.
import { isolatePage, loadModel } from './layerstream/index.js';
import { run } from './run.js';

if (location.search === '?isolate') await isolatePage('./isolation-service-worker.js');
void run({ loadModel });

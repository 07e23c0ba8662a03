// SPDX-License-Identifier: MIT
// For esbuild: the package's dist folder is served as it is, and the page says where.
import { loadModel, setAssetBase } from 'layerstream';
import { run } from './run.js';

setAssetBase('layerstream/');
void run({ loadModel });

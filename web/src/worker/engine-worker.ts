// SPDX-License-Identifier: MIT
// Entry of the engine worker: one per loaded model.

import { loadModule } from '../engine/load-module.js';
import { Dispatcher } from '../protocol/dispatcher.js';
import type { EngineMethods } from '../protocol/methods.js';
import { EngineService } from './engine-service.js';
import { holdLock, isFirstCopy, workerEndpoint } from './worker-scope.js';

if (isFirstCopy()) {
  const service = new EngineService({ loadModule, holdLock });
  new Dispatcher<EngineMethods>(workerEndpoint(), service.handlers);
}

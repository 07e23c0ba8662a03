// SPDX-License-Identifier: MIT
// Which build of the engine runs here, with how many threads.

import { createError } from '../errors.js';
import type { EngineBuild, EngineSettings } from '../protocol/data.js';
import { engineFeatures } from './capabilities.js';
import type { Host } from './host.js';
import type { LoadOptions } from './types.js';

/** More gain nothing: the weights are read from one memory. */
const maxThreads = 16;

/**
 * Cores that compute at full speed, guessed: browsers tell logical processors. Up to four there is seldom a second
 * thread on a core (phones, small laptops); beyond, half of them usually are, or are slow cores.
 */
export function defaultThreads(logicalProcessors: number): number {
  return logicalProcessors <= 4
    ? Math.max(1, logicalProcessors)
    : Math.min(8, Math.ceil(logicalProcessors / 2));
}

export function chooseEngine(options: LoadOptions, host: Host): Pick<EngineSettings, 'build' | 'threads'> {
  const features = engineFeatures(host);
  if (!features.simd) {
    throw createError('unsupported_browser', 'this browser has no WebAssembly SIMD');
  }
  const wanted = options.threads ?? 0;
  const most = features.threads ? maxThreads : 1;
  const threads = Math.min(wanted === 0 ? defaultThreads(host.logicalProcessors) : wanted, most);
  const build =
    options.engineBuild ??
    (`${threads > 1 ? 'threads' : 'single'}-${features.relaxedSimd ? 'relaxed' : 'simd'}` satisfies EngineBuild);
  const isThreaded = build.startsWith('threads-');
  if (isThreaded && !features.threads) {
    throw createError('unsupported_browser', `${build} needs a cross-origin isolated page`);
  }
  if (build.endsWith('-relaxed') && !features.relaxedSimd) {
    throw createError('unsupported_browser', `${build} needs relaxed SIMD, which this browser does not have`);
  }
  return { build, threads: isThreaded ? threads : 1 };
}

// SPDX-License-Identifier: MIT
// A plan from the headers, and probes that say what it would give on this device. Nothing of the weights is loaded.

import type { LayerstreamModule } from '../engine/module-types.js';
import type { Engine } from '../engine/module.js';
import type { DeviceRates } from '../protocol/data.js';
import type { EngineMethods } from '../protocol/methods.js';
import { withHeaders } from './open-engine.js';
import type { WeightSource } from './weight-source.js';

type Plan = EngineMethods['plan'];

export type PlanRequest = Omit<Plan['params'], 'storagePort' | 'modelId'> & { signal: AbortSignal };

/** Weights of a probe: more than the caches hold, so that reading them from memory counts. */
const probeBytes = 24 << 20;
/** Types that hold less of a model than this share tell nothing about its speed. */
const smallShare = 0.03;
/** As large as a unit. */
const readBytes = 8 << 20;

export async function planFromHeaders(
  module: LayerstreamModule,
  source: WeightSource,
  { partBytes, settings, probeMs, probeReads, signal }: PlanRequest,
): Promise<Plan['result']> {
  return withHeaders(module, source, { partBytes, settings, signal }, async (engine) => {
    const details = engine.plan(settings);
    const rates: DeviceRates | null =
      probeMs === 0
        ? null
        : {
            kernelBytesPerSecond: kernelRates(engine, details, settings.threads, probeMs / 2),
            readBytesPerSecond: probeReads ? await readRate(source, partBytes, probeMs / 2) : null,
          };
    engine.dispose();
    return { details, rates };
  });
}

function kernelRates(engine: Engine, details: unknown, threads: number, ms: number): Record<string, number> {
  const bytesByType = numbersIn(details, 'bytes_per_token_by_type');
  const total = bytesByType.reduce((sum, [, bytes]) => sum + bytes, 0);
  const types = bytesByType.filter(([, bytes]) => bytes >= total * smallShare).map(([type]) => type);
  return Object.fromEntries(
    types.map((type) => [type, probeBytes / engine.probe(type, probeBytes, threads, ms / types.length)]),
  );
}

/** Extents all over the largest part, none twice: the second read of one would tell about a cache. */
async function readRate(
  source: WeightSource,
  partBytes: readonly number[],
  ms: number,
): Promise<number | null> {
  const largest = Math.max(...partBytes);
  const part = partBytes.indexOf(largest);
  const bytes = Math.min(readBytes, largest);
  const count = Math.floor(largest / bytes);
  const stride = count % 17 === 0 ? 1 : 17;
  const began = performance.now();
  let read = 0;
  for (let i = 0; i < count && (i === 0 || performance.now() - began < ms); ++i) {
    const some = await source.read([{ part, offset: ((i * stride) % count) * bytes, bytes }]);
    read += some.length;
    source.recycle(some);
  }
  return read / ((performance.now() - began) / 1000);
}

function numbersIn(value: unknown, name: string): [string, number][] {
  const inner: unknown = Object.entries(value ?? {}).find(([key]) => key === name)?.[1];
  return Object.entries(inner ?? {}).filter((pair): pair is [string, number] => typeof pair[1] === 'number');
}

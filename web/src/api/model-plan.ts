// SPDX-License-Identifier: MIT
// The engine's plan and the device's rates, as planModel tells them.

import type { DeviceRates } from '../protocol/data.js';
import { at, numberAt, stringAt } from './json.js';
import type { ModelPlan } from './types.js';

/** Reading and computing overlap, but not entirely. */
const overlapLoss = 1.05;

export function modelPlan(
  details: unknown,
  rates: DeviceRates | null,
  { name, fileBytes }: { name: string; fileBytes: number },
): ModelPlan {
  const plan = (key: string): number => numberAt(details, 'plan', key) ?? 0;
  const config = (key: string): number => numberAt(details, 'config', key) ?? 0;
  const contextLength = config('n_ctx');
  const tokensPerSweep = plan('max_entries');
  const readBytesPerToken = plan('read_bytes_per_token');
  return {
    name,
    architecture: stringAt(details, 'architecture'),
    blockCount: config('n_layers'),
    contextLength,
    fileBytes,
    weightBytes: plan('weight_bytes'),
    memory: {
      fixedBytes: plan('fixed_bytes'),
      kvBytes: plan('kv_bytes'),
      activationBytes: plan('activation_bytes'),
      samplerBytes: plan('sampler_bytes'),
      pinnedBytes: plan('pinned_bytes'),
      slotBytes: plan('n_slots') * plan('slot_bytes'),
      totalBytes: plan('total_bytes'),
    },
    budgetBytes: numberAt(details, 'plan', 'budget_bytes'),
    slots: plan('n_slots'),
    sliceBytes: plan('slot_bytes'),
    resident: plan('streamed_bytes_per_pass') === 0,
    readBytesPerToken,
    tokensPerSweep,
    sweeps: Math.ceil(contextLength / Math.max(1, tokensPerSweep)),
    estimate: rates === null ? null : estimate(details, rates, readBytesPerToken),
    details,
  };
}

function estimate(details: unknown, rates: DeviceRates, readBytes: number): ModelPlan['estimate'] {
  const measured = Object.entries(rates.kernelBytesPerSecond);
  const slowest = Math.min(...measured.map(([, rate]) => rate));
  let computeSeconds = 0;
  for (const type of Object.keys(at(details, 'bytes_per_token_by_type') ?? {})) {
    const bytes = numberAt(details, 'bytes_per_token_by_type', type) ?? 0;
    computeSeconds += bytes / (rates.kernelBytesPerSecond[type] ?? slowest);
  }
  const readSeconds = rates.readBytesPerSecond === null ? 0 : readBytes / rates.readBytesPerSecond;
  return {
    tokensPerSecond: 1 / (Math.max(computeSeconds, readSeconds) * (readSeconds > 0 ? overlapLoss : 1)),
    computeTokensPerSecond: 1 / computeSeconds,
    readBytesPerSecond: rates.readBytesPerSecond,
  };
}

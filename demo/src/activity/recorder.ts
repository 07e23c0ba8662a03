// SPDX-License-Identifier: MIT
// Writes down, while an answer is computed, how many tokens and how many bytes from disk each moment brought.

import type { MemoryReport } from 'layerstream';
import { isAnswering } from '../state.js';
import type { Store } from '../state.js';

/** Rates over the time since the sample before. */
export interface Sample {
  tokensPerSecond: number;
  bytesPerSecond: number;
}

const EVERY_MS = 250;
/** What fits the charts; older samples go. */
const KEPT = 120;

interface Reading {
  at: number;
  tokens: number;
  bytesRead: number;
}

/** `readMemory` resolves to null when no model is open. */
export function setUpRecorder(store: Store, readMemory: () => Promise<MemoryReport | null>): void {
  let before: Reading | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  const read = async (): Promise<Reading | null> => {
    const memory = await readMemory();
    return (
      memory && { at: performance.now(), tokens: store.get().tokensWritten, bytesRead: memory.bytesRead }
    );
  };
  const sample = async (): Promise<void> => {
    const now = await read();
    if (now && before) add(store, before, now);
    before = now;
    const goesOn = now !== null && isAnswering(store.get());
    timer = goesOn ? setTimeout(() => void sample(), EVERY_MS) : null;
    if (!goesOn) before = null;
  };
  store.subscribe((state) => {
    if (timer !== null || before !== null || !isAnswering(state)) return;
    before = { at: performance.now(), tokens: state.tokensWritten, bytesRead: state.memory?.bytesRead ?? 0 };
    timer = setTimeout(() => void sample(), EVERY_MS);
  });
}

function add(store: Store, before: Reading, now: Reading): void {
  const seconds = (now.at - before.at) / 1000;
  if (!(seconds > 0)) return;
  const sample = {
    tokensPerSecond: (now.tokens - before.tokens) / seconds,
    // A model that was opened anew counts from zero again.
    bytesPerSecond: Math.max(0, now.bytesRead - before.bytesRead) / seconds,
  };
  store.update({ samples: [...store.get().samples, sample].slice(-KEPT) });
}

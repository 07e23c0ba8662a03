// SPDX-License-Identifier: MIT
// The state of one tab, and the one place that changes it. Views subscribe and are called at most once a frame, so a
// fast model costs one repaint per frame and not one per token. Nothing here is kept when the tab closes.

import type {
  FinishReason,
  GenerationStats,
  MemoryReport,
  ModelInfo,
  PassProgress,
  StoredModel,
} from 'layerstream';
import type { Problem } from './errors.js';
import { DEFAULT_MODEL } from './default-model.js';

/** What the person picked. Files (several: the parts of a split model) cannot be found again after the tab closes. */
export type Source =
  { kind: 'url'; url: string; label: string } | { kind: 'file'; files: readonly File[]; label: string };

/** `bytes` is used when `kind` is 'bytes' and remembered otherwise. */
export interface Budget {
  kind: 'unlimited' | 'min' | 'bytes';
  bytes: number;
}

/** What is asked of loadModel. */
export interface Choice {
  source: Source;
  budget: Budget;
}

export type ModelState =
  | { kind: 'loading'; phase: 'starting' | 'download' | 'open'; loadedBytes: number; totalBytes: number }
  | { kind: 'ready'; info: ModelInfo }
  | { kind: 'none' };

export interface Turn {
  id: number;
  role: 'user' | 'assistant';
  text: string;
  /** reading: the prompt's passes run; writing: tokens arrive. */
  status: 'reading' | 'writing' | 'done' | 'failed';
  finish?: FinishReason;
  stats?: GenerationStats;
  problem?: Problem;
}

export interface Settings {
  temperature: number;
  topP: number;
  topK: number;
  minP: number;
  seed: number;
  maxTokens: number;
  systemPrompt: string;
}

/** Greedy, nothing cut off: the same answer on every device. */
export const DEFAULT_SETTINGS: Readonly<Settings> = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  seed: 1,
  maxTokens: 512,
  systemPrompt: '',
};

export interface State {
  choice: Choice;
  model: ModelState;
  /** Why the last load or answer failed, above the composer until dismissed. */
  banner: Problem | null;
  turns: readonly Turn[];
  settings: Settings;
  /** The pass that runs now; null between answers. */
  pass: PassProgress | null;
  memory: MemoryReport | null;
  /** Tokens per second of the last answer, and of the running one as far as known. */
  prefillRate: number | null;
  decodeRate: number | null;
  /** Tokens of the last prompt and answer together. */
  contextUsed: number;
  stored: readonly StoredModel[];
}

export interface Store {
  get(): Readonly<State>;
  update(change: Partial<State>): void;
  /** Changes the turn with this id, if it is still there. */
  updateTurn(id: number, change: Partial<Turn>): void;
  subscribe(view: (state: Readonly<State>) => void): void;
}

export function initialState(): State {
  return {
    choice: { source: DEFAULT_MODEL.source, budget: { kind: 'unlimited', bytes: 1e9 } },
    model: { kind: 'loading', phase: 'starting', loadedBytes: 0, totalBytes: 0 },
    banner: null,
    turns: [],
    settings: { ...DEFAULT_SETTINGS },
    pass: null,
    memory: null,
    prefillRate: null,
    decodeRate: null,
    contextUsed: 0,
    stored: [],
  };
}

export function isAnswering(state: Readonly<State>): boolean {
  const status = state.turns.at(-1)?.status;
  return status === 'reading' || status === 'writing';
}

export function createStore(initial: State): Store {
  let state: Readonly<State> = initial;
  let scheduled = false;
  const views: ((state: Readonly<State>) => void)[] = [];

  const flush = (): void => {
    if (!scheduled) return;
    scheduled = false;
    for (const view of views) view(state);
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    // A hidden tab gets no frames, but its title and live region should still follow.
    if (document.hidden) setTimeout(flush, 200);
    else requestAnimationFrame(flush);
  };

  return {
    get: () => state,
    update(change) {
      state = { ...state, ...change };
      schedule();
    },
    updateTurn(id, change) {
      const turns = state.turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn));
      state = { ...state, turns };
      schedule();
    },
    subscribe(view) {
      views.push(view);
      view(state);
    },
  };
}

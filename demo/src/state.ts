// SPDX-License-Identifier: MIT
// The state of one tab, and the one place that changes it. Views subscribe and are called at most once a frame, so a
// fast model costs one repaint per frame and not one per token. What outlives the tab: conversations
// (conversations/database.ts), settings and theme (localStorage), models (the package's store).

import type { MemoryReport, ModelInfo, PassProgress, StoredModel } from 'layerstream';
import type { Sample } from './activity/recorder.js';
import { isRunning } from './chat/turns.js';
import type { Turn } from './chat/turns.js';
import { DEFAULT_MODEL } from './models/default-model.js';
import type { Job } from './models/jobs.js';
import { loadSettings } from './settings/settings.js';
import type { Settings } from './settings/settings.js';
import type { Problem } from './ui/errors.js';

/** What the person picked. Files (several: the parts of a split model) cannot be found again after the tab closes. */
export type Source =
  { kind: 'url'; url: string; label: string } | { kind: 'file'; files: readonly File[]; label: string };

export function isSameSource(a: Source, b: Source): boolean {
  return a.kind === 'url' ? b.kind === 'url' && a.url === b.url : b.kind === 'file' && a.files === b.files;
}

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

/** How much of the open model has been downloaded while the rest is on its way. */
export interface Arrival {
  loadedBytes: number;
  totalBytes: number;
}

/** The open conversation apart from its turns. It is stored from its first message on. */
export interface Conversation {
  id: string;
  title: string;
  /** Whether the person gave the title; otherwise it follows the first message. */
  named: boolean;
  systemPrompt: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** What the list of conversations shows. */
export interface ConversationHead {
  id: string;
  title: string;
  updatedAt: number;
}

export interface State {
  choice: Choice;
  model: ModelState;
  /** null: all of the open model is here. */
  arrival: Arrival | null;
  /** Why the last load or answer failed, above the composer until dismissed. */
  banner: Problem | null;
  conversation: Conversation;
  turns: readonly Turn[];
  /** Most recent first. */
  conversations: readonly ConversationHead[];
  settings: Settings;
  /** The pass that runs now; null between answers. */
  pass: PassProgress | null;
  memory: MemoryReport | null;
  /** Budgets that make sense for the open model; null while not known. Bytes. */
  limits: { minBytes: number; fullBytes: number } | null;
  /** Tokens per second of the last answer, and of the running one as far as known. */
  prefillRate: number | null;
  decodeRate: number | null;
  /** Tokens of all answers since the page was opened. */
  tokensWritten: number;
  /** The last answers over time. */
  samples: readonly Sample[];
  stored: readonly StoredModel[];
  /** What is done with stored models or has been, by their key (models/jobs.ts). */
  jobs: Readonly<Record<string, Job>>;
}

export interface Store {
  get(): Readonly<State>;
  update(change: Partial<State>): void;
  /** Changes the turn with this id, if it is still there. */
  updateTurn(id: number, change: Partial<Turn>): void;
  subscribe(view: (state: Readonly<State>) => void): void;
}

export function newConversation(): Conversation {
  // randomUUID needs a secure context, which a demo on a plain-http address is not.
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const id = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return { id, title: '', named: false, systemPrompt: '', createdAt: Date.now() };
}

export function initialState(): State {
  return {
    choice: { source: DEFAULT_MODEL.source, budget: { kind: 'unlimited', bytes: 1e9 } },
    model: { kind: 'loading', phase: 'starting', loadedBytes: 0, totalBytes: 0 },
    arrival: null,
    banner: null,
    conversation: newConversation(),
    turns: [],
    conversations: [],
    settings: loadSettings(),
    pass: null,
    memory: null,
    limits: null,
    prefillRate: null,
    decodeRate: null,
    tokensWritten: 0,
    samples: [],
    stored: [],
    jobs: {},
  };
}

export function isAnswering(state: Readonly<State>): boolean {
  return isRunning(state.turns.at(-1));
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

// SPDX-License-Identifier: MIT
// Which model is open. One at a time: the old one is closed before the new one is opened, since memory is the point.
// A model can be asked as soon as its header is there; its load ends when all of it is stored. A load that fails leaves a
// sentence in the banner and goes back to the last model that worked.

import { deleteModel, listModels, loadModel, planModel } from 'layerstream';
import type { LoadOptions, LoadProgress, MemoryReport, Model, ModelSource } from 'layerstream';
import { labelOfUrl } from './addresses.js';
import { DEFAULT_MODEL, isDefaultModel } from './default-model.js';
import { problemOf, problemFor } from '../ui/errors.js';
import type { Problem } from '../ui/errors.js';
import { isSameSource } from '../state.js';
import type { Arrival, Budget, Choice, Source, Store } from '../state.js';

const STARTING = { kind: 'loading', phase: 'starting', loadedBytes: 0, totalBytes: 0 } as const;

export class ModelSession {
  readonly #store: Store;
  readonly #stopAnswer: () => void;
  #model: Model | null = null;
  #abort: AbortController | null = null;
  /** Of the newest load, as far as its download has told; null if nothing of it had to be downloaded. */
  #arrival: Arrival | null = null;
  /** Loads run one after the other; only the newest request is honoured. */
  #chain: Promise<void> = Promise.resolve();
  #newest = 0;
  #lastGood: Choice | null = null;
  #failed: Choice | null = null;

  constructor(store: Store, stopAnswer: () => void) {
    this.#store = store;
    this.#stopAnswer = stopAnswer;
  }

  get model(): Model | null {
    return this.#model;
  }

  load(choice: Choice): Promise<void> {
    const request = ++this.#newest;
    this.#stopAnswer();
    this.#abort?.abort();
    this.#store.update({ choice, banner: null, model: STARTING, arrival: null });
    this.#chain = this.#chain.then(() => (request === this.#newest ? this.#run(choice, request) : undefined));
    return this.#chain;
  }

  /**
   * More memory acts at once, also in the middle of an answer. Less takes a new engine, into which the conversation is moved;
   * meanwhile nothing can be asked. What is refused leaves everything as it was, with a sentence.
   */
  async setBudget(budget: Budget): Promise<void> {
    const { choice, model: state, memory } = this.#store.get();
    const model = this.#model;
    const wanted = { ...choice, budget };
    if (!model || state.kind !== 'ready') return this.load(wanted);
    const request = this.#newest;
    const value = memoryBudgetOf(budget);
    const isLess = value === 'min' || value < (memory?.plannedBytes ?? Infinity);
    this.#store.update({ choice: wanted, banner: null });
    if (isLess) this.#store.update({ model: { ...STARTING, phase: 'open' } });
    try {
      const report = await model.setBudget(value);
      if (request !== this.#newest) return;
      this.#lastGood = wanted;
      this.#store.update({ model: state, memory: report });
    } catch (error) {
      if (request !== this.#newest) return;
      this.#failed = wanted;
      this.#store.update({ model: state, choice, banner: problemOf(error) });
    }
  }

  /** The range in which a budget makes sense for what is open: the smallest plan, and all of the model. */
  async findLimits(): Promise<void> {
    const { choice } = this.#store.get();
    const source = packageSource(choice.source);
    const neededAt = async (memoryBudget: 'min' | number): Promise<number> =>
      (await planModel(source, { memoryBudget, probeMs: 0 })).memory.totalBytes;
    try {
      const [minBytes, fullBytes] = [await neededAt('min'), await neededAt(NO_LIMIT_BYTES)];
      if (!isSameSource(choice.source, this.#store.get().choice.source)) return;
      this.#store.update({ limits: { minBytes, fullBytes } });
    } catch {
      // Without a range there is no slider; the field for a number remains.
    }
  }

  setSource(source: Source): Promise<void> {
    return this.load({ ...this.#store.get().choice, source });
  }

  /** Opens it anew, if it is open already; loading fetches again what the store knows to be damaged. */
  repair(url: string): Promise<void> {
    const source: Source = { kind: 'url', url, label: labelOfUrl(url) };
    return this.setSource(isDefaultModel(source) ? DEFAULT_MODEL.source : source);
  }

  /** Tries what failed once more, or what is chosen now. */
  retry(): Promise<void> {
    return this.load(this.#failed ?? this.#store.get().choice);
  }

  retryWithSmallestBudget(): Promise<void> {
    const { choice, model } = this.#store.get();
    const failed = this.#failed ?? choice;
    const budget: Budget = { ...failed.budget, kind: 'min' };
    const isOpen = model.kind === 'ready' && isSameSource(choice.source, failed.source);
    return isOpen ? this.setBudget(budget) : this.load({ ...failed, budget });
  }

  loadDefault(): Promise<void> {
    return this.setSource(DEFAULT_MODEL.source);
  }

  /** Ends the load under way; what has arrived is kept. */
  cancel(): void {
    if (this.#abort) this.#stopAnswer();
    this.#abort?.abort();
  }

  /** After the engine died: nothing is open any more, and what was on its way is nobody's. */
  async forget(): Promise<void> {
    this.#newest += 1;
    this.#store.update({ model: { kind: 'none' }, memory: null, arrival: null });
    await this.#close();
  }

  /** The memory of the open model, also written to the store; null if there is none. */
  async refreshMemory(): Promise<MemoryReport | null> {
    const model = this.#model;
    if (!model) return null;
    try {
      const memory = await model.memory();
      if (model !== this.#model) return null;
      this.#store.update({ memory });
      return memory;
    } catch {
      return null; // The model was closed in the meantime; whoever closed it says so.
    }
  }

  async refreshStored(): Promise<void> {
    try {
      this.#store.update({ stored: await listModels() });
    } catch {
      this.#store.update({ stored: [] }); // No storage here (a private window): nothing is stored.
    }
  }

  async remove(url: string): Promise<void> {
    try {
      await deleteModel(url);
    } catch (error) {
      this.#store.update({ banner: problemOf(error) });
    }
    await this.refreshStored();
  }

  async #run(choice: Choice, request: number): Promise<void> {
    const problem = await this.#open(choice);
    if (request !== this.#newest) return;
    if (problem === null) {
      this.#lastGood = choice;
      this.#failed = null;
      return;
    }
    const back = this.#lastGood;
    this.#failed = choice;
    this.#store.update({ banner: problem, arrival: null });
    if (back === null || back === choice) return this.#openNothing();
    this.#store.update({ choice: back, model: STARTING });
    const worse = await this.#open(back);
    if (worse === null || request !== this.#newest) return;
    this.#store.update({ banner: worse, arrival: null });
    await this.#openNothing();
  }

  async #openNothing(): Promise<void> {
    this.#store.update({ model: { kind: 'none' }, memory: null });
    await this.#close();
    await this.refreshStored();
  }

  /** Resolves when all of the model is here: to null, or to why not. */
  async #open(choice: Choice): Promise<Problem | null> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#arrival = null;
    this.#store.update({ memory: null, limits: null, prefillRate: null, decodeRate: null });
    try {
      await this.#close();
      const model = await loadModel(
        packageSource(choice.source),
        this.#loadOptions(choice.budget, abort.signal),
      );
      this.#model = model;
      this.#store.update({ model: { kind: 'ready', info: model.info }, arrival: this.#arrival });
      await Promise.all([this.refreshMemory(), this.refreshStored()]);
      await unlessAborted(model.stored, abort.signal);
      if (this.#store.get().arrival) await this.#endArrival(model);
      return null;
    } catch (error) {
      return abort.signal.aborted ? problemFor('load_cancelled') : problemOf(error);
    } finally {
      if (this.#abort === abort) this.#abort = null;
    }
  }

  async #endArrival(model: Model): Promise<void> {
    if (model !== this.#model) return;
    this.#store.update({ arrival: null });
    await this.refreshStored();
  }

  #loadOptions(budget: Budget, signal: AbortSignal): LoadOptions {
    return {
      signal,
      memoryBudget: memoryBudgetOf(budget),
      onProgress: (progress) => this.#showProgress(progress, signal),
    };
  }

  #showProgress({ phase, loadedBytes, totalBytes }: LoadProgress, signal: AbortSignal): void {
    if (phase === 'ready' || signal.aborted) return;
    if (phase === 'download') this.#arrival = { loadedBytes, totalBytes };
    if (this.#model) this.#store.update({ arrival: this.#arrival });
    else this.#store.update({ model: { kind: 'loading', phase, loadedBytes, totalBytes } });
  }

  async #close(): Promise<void> {
    const model = this.#model;
    this.#model = null;
    try {
      await model?.dispose();
    } catch {
      // It was already gone.
    }
  }
}

/** Without a limit of the person's own: what the package takes by default, of which a model uses what it needs. */
const NO_LIMIT_BYTES = 2 * 2 ** 30;

function memoryBudgetOf({ kind, bytes }: Budget): number | 'min' {
  return { min: 'min' as const, bytes, unlimited: NO_LIMIT_BYTES }[kind];
}

/** What `promise` settles to, unless the signal aborts first. */
function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject);
  });
}

function packageSource(source: Source): ModelSource {
  if (source.kind === 'url') return source.url;
  const [only] = source.files;
  return only && source.files.length === 1 ? only : source.files;
}

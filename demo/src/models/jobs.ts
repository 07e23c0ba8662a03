// SPDX-License-Identifier: MIT
// What is done with stored models as a whole, besides opening them: compared with their hashes, saved as files, copied in
// from files. One job a model at a time; each tells how far it is, can be cancelled, and leaves a sentence.

import { exportModel, importFile, verifyModel } from 'layerstream';
import type { ModelCheck, StoredModelOptions } from 'layerstream';
import { problemOf } from '../ui/errors.js';
import type { Problem } from '../ui/errors.js';
import { formatBytes } from '../ui/format.js';
import type { Source, Store } from '../state.js';
import { isImported, labelOfUrl, partNames } from './addresses.js';
import { openFileToSave } from './save-file.js';

/** How a job ended, if it was not cancelled. */
export type Outcome =
  { kind: 'done'; words: string; canRepair: boolean } | { kind: 'failed'; problem: Problem };

export interface Job {
  kind: 'check' | 'save' | 'copy';
  doneBytes: number;
  totalBytes: number;
  /** null: it runs. */
  outcome: Outcome | null;
}

/** Under this key in place of a model's, since the model is not there yet. */
export const COPY_KEY = 'copy';

export interface StoredModelActions {
  check(url: string): void;
  save(url: string): void;
  copy(files: readonly File[]): void;
  /** Of a job that runs. */
  cancel(key: string): void;
  /** What a job left. */
  dismiss(key: string): void;
}

type Task = (options: Required<StoredModelOptions>) => Promise<Outcome | null>;

export class StoredModelJobs implements StoredModelActions {
  readonly #store: Store;
  readonly #refreshStored: () => Promise<void>;
  readonly #open: (source: Source) => void;
  readonly #running = new Map<string, AbortController>();

  constructor(store: Store, refreshStored: () => Promise<void>, open: (source: Source) => void) {
    this.#store = store;
    this.#refreshStored = refreshStored;
    this.#open = open;
  }

  check(url: string): void {
    void this.#run(url, 'check', async (options) => outcomeOf(await verifyModel(url, options), url));
  }

  save(url: string): void {
    void this.#run(url, 'save', (options) => this.#save(url, options));
  }

  /** The parts of a split model, or one file. The copy is opened. */
  copy(files: readonly File[]): void {
    void this.#run(COPY_KEY, 'copy', async (options) => {
      const url = await importFile(files, options);
      this.#open({ kind: 'url', url, label: labelOfUrl(url) });
      return null;
    });
  }

  cancel(key: string): void {
    this.#running.get(key)?.abort();
  }

  dismiss(key: string): void {
    if (this.#running.has(key)) return;
    const { [key]: _gone, ...jobs } = this.#store.get().jobs;
    this.#store.update({ jobs });
  }

  async #run(key: string, kind: Job['kind'], task: Task): Promise<void> {
    if (this.#running.has(key)) return;
    const abort = new AbortController();
    this.#running.set(key, abort);
    this.#change(key, { kind, doneBytes: 0, totalBytes: 0, outcome: null });
    let outcome: Outcome | null = null;
    try {
      outcome = await task({
        signal: abort.signal,
        onProgress: ({ loadedBytes, totalBytes }) =>
          this.#change(key, { kind, doneBytes: loadedBytes, totalBytes, outcome: null }),
      });
    } catch (error) {
      if (!abort.signal.aborted) outcome = { kind: 'failed', problem: problemOf(error) };
    }
    this.#running.delete(key);
    if (outcome) this.#change(key, { kind, doneBytes: 0, totalBytes: 0, outcome });
    else this.dismiss(key);
    await this.#refreshStored();
  }

  #change(key: string, job: Job): void {
    this.#store.update({ jobs: { ...this.#store.get().jobs, [key]: job } });
  }

  async #save(url: string, { signal, onProgress }: Required<StoredModelOptions>): Promise<Outcome | null> {
    const totalBytes = this.#store.get().stored.find((model) => model.url === url)?.totalBytes ?? 0;
    let loadedBytes = 0;
    for (const [part, name] of partNames(url).entries()) {
      const file = await openFileToSave(name);
      if (file === null) return null;
      const count = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          loadedBytes += chunk.length;
          onProgress({ loadedBytes, totalBytes });
          controller.enqueue(chunk);
        },
      });
      await exportModel(url, { part, signal }).pipeThrough(count).pipeTo(file, { signal });
    }
    return { kind: 'done', words: `Saved: ${formatBytes(loadedBytes)}.`, canRepair: false };
  }
}

function outcomeOf(check: ModelCheck | null, url: string): Outcome {
  if (check === null) return { kind: 'done', words: 'Nothing of it is stored here.', canRepair: false };
  const damagedBytes = check.damaged.reduce((sum, { bytes }) => sum + bytes, 0);
  if (damagedBytes === 0) {
    const what = check.state === 'complete' ? 'Every byte' : 'What is here';
    return { kind: 'done', words: `Checked. ${what} is as it was stored.`, canRepair: false };
  }
  const damage = `${formatBytes(damagedBytes)} are damaged.`;
  return isImported(url)
    ? { kind: 'done', words: `${damage} Copy the file in again to replace them.`, canRepair: false }
    : {
        kind: 'done',
        words: `${damage} Repairing opens the model and downloads only these again.`,
        canRepair: true,
      };
}

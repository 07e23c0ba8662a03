// SPDX-License-Identifier: MIT
// Reports a growing number of bytes at most every 50 ms; what came last before a stall as well.

export interface DownloadProgress {
  loadedBytes: number;
  /** 0 while unknown. */
  totalBytes: number;
}

const intervalMs = 50;

export class ProgressReports {
  readonly #now: () => DownloadProgress;
  readonly #listeners = new Set<(progress: DownloadProgress) => void>();
  #last = 0;
  #later: ReturnType<typeof setTimeout> | undefined;

  constructor(now: () => DownloadProgress) {
    this.#now = now;
  }

  listen(listener: (progress: DownloadProgress) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    const wait = this.#last + intervalMs - Date.now();
    if (wait <= 0) {
      this.flush();
    } else {
      this.#later ??= setTimeout(() => this.flush(), wait);
    }
  }

  flush(): void {
    this.stop();
    this.#last = Date.now();
    this.#listeners.forEach((listener) => listener(this.#now()));
  }

  /** Nothing is reported later any more. */
  stop(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
  }
}

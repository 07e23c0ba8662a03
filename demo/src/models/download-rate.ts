// SPDX-License-Identifier: MIT
// How fast a download is, and how long it takes from here, from what is told of it now and then.

/** Rates are over this long: shorter ones jump about, longer ones lag behind. */
const WINDOW_MS = 5000;
/** Too early to say. */
const LEAST_MS = 800;

export class DownloadRate {
  #readings: { at: number; bytes: number }[] = [];

  /** Bytes per second; null while it is not known. Fewer bytes than before begin a new download. */
  update(bytes: number, now: number): number | null {
    if (bytes < (this.#readings.at(-1)?.bytes ?? 0)) this.#readings = [];
    this.#readings.push({ at: now, bytes });
    while (this.#readings.length > 2 && now - (this.#readings[0]?.at ?? now) > WINDOW_MS)
      this.#readings.shift();
    const first = this.#readings[0];
    if (!first || now - first.at < LEAST_MS || bytes === first.bytes) return null;
    return ((bytes - first.bytes) * 1000) / (now - first.at);
  }
}

// SPDX-License-Identifier: MIT
// Hands a file to the browser, which puts it where downloads go.

import { make } from './dom.js';

/** The browser reads the Blob some time after the click. */
const KEPT_MS = 60_000;

export function downloadBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = make('a', { attributes: { href: url, download: name } });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

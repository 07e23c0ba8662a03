// SPDX-License-Identifier: MIT
// What this site keeps on this device, what more it may keep, and whether the browser promised not to remove it.

import { persistStorage, storageEstimate } from 'layerstream';
import type { StorageUse } from 'layerstream';
import { make, makeButton, setText } from '../ui/dom.js';
import { formatBytes, percent } from '../ui/format.js';

export interface DiskView {
  element: HTMLElement;
  /** Asks the browser anew. Resolves to the bytes that are free; null if it does not say. */
  refresh(): Promise<number | null>;
}

const KEPT = 'The browser keeps the models until you delete them.';
const NOT_KEPT = 'The browser may remove models when the disk is nearly full.';
const REFUSED =
  'The browser did not agree. It goes by how often you come here: visit again, or install this page.';

export function makeDiskView(): DiskView {
  const fill = make('span', { class: 'bar-fill' });
  const caption = make('p', { class: 'note' });
  const bar = make('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } }, fill);
  const promise = make('span', { attributes: { 'aria-live': 'polite' } });
  const ask = makeButton('Ask it to keep them', 'link', () => {
    void persistStorage().then((persisted) => {
      ask.hidden = true;
      setText(promise, persisted ? KEPT : REFUSED);
    });
  });
  const element = make(
    'div',
    { class: 'disk', id: 'disk' },
    bar,
    caption,
    make('p', { class: 'note' }, promise, ' ', ask),
  );
  element.hidden = true;

  const show = ({ usageBytes, quotaBytes, persisted }: StorageUse): void => {
    element.hidden = usageBytes === null || quotaBytes === null;
    if (usageBytes === null || quotaBytes === null) return;
    fill.style.width = `${percent(usageBytes, quotaBytes)}%`;
    setText(
      caption,
      `${formatBytes(usageBytes)} used by this page, ${formatBytes(freeOf(usageBytes, quotaBytes))} free`,
    );
    if (persisted) ask.hidden = true;
    if (promise.textContent !== REFUSED || persisted) setText(promise, persisted ? KEPT : NOT_KEPT);
  };
  return {
    element,
    async refresh() {
      const use = await storageEstimate();
      show(use);
      return use.usageBytes === null || use.quotaBytes === null
        ? null
        : freeOf(use.usageBytes, use.quotaBytes);
    },
  };
}

function freeOf(usageBytes: number, quotaBytes: number): number {
  return Math.max(0, quotaBytes - usageBytes);
}

// SPDX-License-Identifier: MIT
// A short notice at the bottom, with at most one thing to do about it. It goes by itself.

import { byId, make, makeButton } from './dom.js';

const SHOWN_MS = 6000;
let timer: ReturnType<typeof setTimeout> | undefined;

export function showToast(text: string, action?: { label: string; run: () => void }): void {
  const toast = byId('toast', HTMLElement);
  const hide = (): void => toast.replaceChildren();
  toast.replaceChildren(make('span', { text }));
  if (action) {
    const button = makeButton(action.label, 'link', () => {
      hide();
      action.run();
    });
    toast.append(button);
  }
  clearTimeout(timer);
  timer = setTimeout(hide, SHOWN_MS);
}

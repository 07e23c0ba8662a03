// SPDX-License-Identifier: MIT
// The side panel: always there on wide screens, a drawer on narrow ones. A closed drawer is inert, so that neither Tab
// nor a screen reader walks into it; opening moves the focus in, closing gives it back.

import { byId } from './dom.js';

export function setUpPanel(): void {
  const panel = byId('panel', HTMLElement);
  const backdrop = byId('backdrop', HTMLElement);
  const openButton = byId('panel-open', HTMLButtonElement);
  const closeButton = byId('panel-close', HTMLButtonElement);
  const narrow = window.matchMedia('(max-width: 979px)'); // also in styles/panel.css
  let open = false;

  const apply = (): void => {
    const drawer = narrow.matches;
    panel.inert = drawer && !open;
    panel.dataset['open'] = String(open);
    backdrop.dataset['on'] = String(drawer && open);
    openButton.setAttribute('aria-expanded', String(!drawer || open));
  };
  const set = (next: boolean): void => {
    if (open === next) return;
    open = next;
    apply();
    if (!narrow.matches) return;
    if (open) closeButton.focus();
    else openButton.focus();
  };

  openButton.addEventListener('click', () => set(!open));
  closeButton.addEventListener('click', () => set(false));
  backdrop.addEventListener('click', () => set(false));
  panel.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !narrow.matches || !open) return;
    event.preventDefault(); // Esc closes the drawer first; it stops an answer only when no drawer is open.
    set(false);
  });
  narrow.addEventListener('change', apply);
  apply();
}

// SPDX-License-Identifier: MIT
// A small menu at a button: a popover, so that no scrolling list cuts it off. Arrow keys move, Esc closes.

import { make } from './dom.js';
import { icon } from './icons.js';
import type { IconName } from './icons.js';

export interface MenuItem {
  label: string;
  icon: IconName;
  run: () => void;
}

/** Opens the menu below `anchor`; the focus comes back to it when the menu closes without a choice. */
export function openMenu(anchor: HTMLElement, label: string, items: readonly MenuItem[]): void {
  const attributes = { role: 'menu', 'aria-label': label, popover: 'auto' };
  const menu = make('div', { class: 'menu', attributes });
  for (const item of items) {
    const row = make(
      'button',
      { type: 'button', attributes: { role: 'menuitem' } },
      icon(item.icon),
      item.label,
    );
    row.addEventListener('click', () => {
      menu.hidePopover();
      item.run();
    });
    menu.append(row);
  }
  menu.addEventListener('keydown', (event) => moveByKey(menu, event));
  menu.addEventListener('toggle', (event) => {
    if (event.newState !== 'closed') return;
    anchor.setAttribute('aria-expanded', 'false');
    if (menu.contains(document.activeElement)) anchor.focus();
    menu.remove();
  });
  (anchor.closest('nav, main') ?? document.body).append(menu);
  menu.showPopover();
  place(menu, anchor);
  anchor.setAttribute('aria-expanded', 'true');
  menu.querySelector('button')?.focus();
}

function place(menu: HTMLElement, anchor: HTMLElement): void {
  const box = anchor.getBoundingClientRect();
  const below = box.bottom + 4 + menu.offsetHeight <= window.innerHeight;
  menu.style.top = `${below ? box.bottom + 4 : box.top - 4 - menu.offsetHeight}px`;
  menu.style.left = `${Math.max(8, Math.min(box.right - menu.offsetWidth, window.innerWidth - menu.offsetWidth - 8))}px`;
}

function moveByKey(menu: HTMLElement, event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const rows = [...menu.querySelectorAll('button')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows.at((at + step) % rows.length)?.focus();
}

// SPDX-License-Identifier: MIT
// Theme: the system's preference unless the person chose. One button goes round system -> light -> dark.
// The choice is the only thing this page stores besides the model.

import { byId, setText } from './dom.js';

type Theme = 'system' | 'light' | 'dark';
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const KEY = 'layerstream-theme'; // also in public/theme-boot.js

function current(): Theme {
  const theme = document.documentElement.dataset['theme'];
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
}

export function setUpTheme(): void {
  const button = byId('theme', HTMLButtonElement);
  const label = byId('theme-label', HTMLElement);
  const show = (): void => {
    const text = `Theme: ${current()}`;
    setText(label, text);
    button.title = text;
  };
  button.addEventListener('click', () => {
    apply(NEXT[current()]);
    show();
  });
  show();
}

// SPDX-License-Identifier: MIT
// Copying, with a word on whether it worked.

import { make, setText } from './dom.js';
import { icon } from './icons.js';

const SHOWN_MS = 1600;

export function makeCopyButton(label: string, text: () => string): HTMLButtonElement {
  const word = make('span', { text: 'Copy' });
  const attributes = { 'aria-label': label };
  const button = make('button', { class: 'action copy', type: 'button', attributes }, icon('copy'), word);
  const flash = (outcome: string): void => {
    setText(word, outcome);
    setTimeout(() => setText(word, 'Copy'), SHOWN_MS);
  };
  button.addEventListener('click', () => {
    copyText(text()).then(
      () => flash('Copied'),
      () => flash('Could not copy'),
    );
  });
  return button;
}

async function copyText(text: string): Promise<void> {
  // Pages on plain http (other than localhost) have no clipboard object.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard) return clipboard.writeText(text);
  const area = make('textarea', { class: 'visually-hidden' });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('the browser refused');
}

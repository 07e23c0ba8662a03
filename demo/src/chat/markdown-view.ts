// SPDX-License-Identifier: MIT
// Shows a text that grows as Markdown. Only the pieces that changed are made anew, so that a long answer does not cost
// more and more, and a selection in what is finished survives.

import { make } from '../ui/dom.js';
import { makeCopyButton } from '../ui/copy.js';
import { elementsOf, piecesOf } from './markdown.js';

export class MarkdownView {
  readonly element = make('div', { class: 'markdown' });
  #shown: { html: string; element: HTMLElement }[] = [];
  #text = '';

  update(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    const pieces = piecesOf(text);
    for (const [index, { html }] of pieces.entries()) {
      const before = this.#shown[index];
      if (before?.html === html) continue;
      const element = make('div', { class: 'piece' }, elementsOf(html));
      for (const pre of element.querySelectorAll('pre')) frameCode(pre);
      if (before) before.element.replaceWith(element);
      else this.element.append(element);
      this.#shown[index] = { html, element };
    }
    for (const { element } of this.#shown.splice(pieces.length)) element.remove();
  }
}

/** A code block gets a bar with its language and a copy button, and can be scrolled by keyboard. */
function frameCode(pre: HTMLPreElement): void {
  const language = pre.dataset['lang'] ?? '';
  const code = pre.textContent ?? '';
  const bar = make('div', { class: 'code-bar' }, make('span', { text: language || 'text' }));
  bar.append(makeCopyButton('Copy code', () => code));
  const frame = make('div', { class: 'code' });
  pre.replaceWith(frame);
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', language ? `Code, ${language}` : 'Code');
  frame.append(bar, pre);
}

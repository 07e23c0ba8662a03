// SPDX-License-Identifier: MIT
// The few lines of DOM help the page needs. Text always goes in as text nodes: file names, URLs and titles are not
// trusted. The one place that makes elements of a text is chat/markdown.ts.

import { icon } from './icons.js';
import type { IconName } from './icons.js';

/** The element with this id, which index.html must contain, checked to be of the class asked for. */
export function byId<T extends Element>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} with id "${id}"`);
  return element;
}

export interface ElementOptions {
  class?: string;
  id?: string;
  text?: string;
  title?: string;
  type?: string;
  attributes?: Record<string, string>;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: ElementOptions = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (options.class !== undefined) element.className = options.class;
  if (options.id !== undefined) element.id = options.id;
  if (options.text !== undefined) element.textContent = options.text;
  if (options.title !== undefined) element.title = options.title;
  if (options.type !== undefined) element.setAttribute('type', options.type);
  for (const [name, value] of Object.entries(options.attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button that does something; never one that submits a form. */
export function makeButton(label: string, className: string, onClick: () => void): HTMLButtonElement {
  const button = make('button', { class: className, type: 'button', text: label });
  button.addEventListener('click', onClick);
  return button;
}

/** A button that shows only an icon; its label is for tooltips and screen readers. */
export function makeIconButton(name: IconName, label: string, onClick: () => void): HTMLButtonElement {
  const attributes = { 'aria-label': label };
  const button = make(
    'button',
    { class: 'icon-button', type: 'button', title: label, attributes },
    icon(name),
  );
  button.addEventListener('click', onClick);
  return button;
}

/** Writes text only when it changed, so that screen readers and selections are left alone. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

// SPDX-License-Identifier: MIT
// The middle of the page is the chat or the models. The address says which (#models), so that the back button works.

import type { Store } from '../state.js';
import { byId } from './dom.js';

const MODELS = '#models';

export interface Pages {
  showChat(): void;
  showModels(): void;
}

export function setUpPages(store: Store): Pages {
  const chat = byId('chat-page', HTMLElement);
  const models = byId('models-page', HTMLElement);
  const open = byId('models-open', HTMLButtonElement);
  const name = byId('model-name', HTMLElement);
  let chatAddress = '';

  const apply = (): void => {
    const isModels = location.hash === MODELS;
    chat.hidden = isModels;
    models.hidden = !isModels;
    open.setAttribute('aria-expanded', String(isModels));
  };
  const go = (address: string): void => {
    history.pushState(null, '', address || location.pathname + location.search);
    apply();
  };
  const showChat = (): void => {
    if (location.hash === MODELS) go(chatAddress);
  };
  const showModels = (): void => {
    if (location.hash === MODELS) return;
    chatAddress = location.hash;
    go(MODELS);
  };
  open.addEventListener('click', () => (location.hash === MODELS ? showChat() : showModels()));
  window.addEventListener('popstate', apply);
  store.subscribe(({ choice, model }) => {
    name.textContent = choice.source.label;
    open.dataset['state'] = model.kind;
  });
  apply();
  return { showChat, showModels };
}

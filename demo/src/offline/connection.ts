// SPDX-License-Identifier: MIT
// Says in the header whether there is a network; a chat needs none.

import { byId, setText } from '../ui/dom.js';

export function setUpConnection(): void {
  const element = byId('privacy', HTMLElement);
  const words = byId('privacy-words', HTMLElement);
  const online = { words: words.textContent, title: element.title };
  const offline = {
    words: 'Offline',
    title: 'There is no network. Chatting goes on: the model and your chats are on this device.',
  };
  const show = (): void => {
    const state = navigator.onLine ? online : offline;
    setText(words, state.words);
    element.title = state.title;
    element.dataset['offline'] = String(!navigator.onLine);
  };
  window.addEventListener('online', show);
  window.addEventListener('offline', show);
  show();
}

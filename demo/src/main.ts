// SPDX-License-Identifier: MIT
// Joins the parts of the page: one store, one model session, one chat session, and the views over them.

import { ChatSession } from './chat-session.js';
import { setUpChatView } from './chat-view.js';
import { setUpComposer } from './composer.js';
import { byId } from './dom.js';
import { setUpMemoryView } from './memory-view.js';
import { setUpModelPanel } from './model-panel.js';
import { ModelSession } from './model-session.js';
import { setUpPanel } from './panel.js';
import { setUpBanner } from './problem-card.js';
import type { ProblemActions } from './problem-card.js';
import { setUpProgressView } from './progress-view.js';
import { setUpSettings } from './settings.js';
import { setUpSpeedView } from './speed-view.js';
import { createStore, initialState } from './state.js';
import { setUpTheme } from './theme.js';

const store = createStore(initialState());
const models = new ModelSession(store, () => chat.stop());
const chat: ChatSession = new ChatSession(
  store,
  () => models.model,
  (failure) => {
    if (failure === 'worker_crashed') void models.forget();
    else void models.refreshMemory();
  },
);

// The sessions report what fails through the store, so their promises need no handling here.
const problemActions: ProblemActions = {
  retryLoad: () => void models.retry(),
  loadDefault: () => void models.loadDefault(),
  smallestBudget: () => void models.retryWithSmallestBudget(),
  newChat: () => chat.newChat(),
  askAgain: () => void chat.askAgain(),
};

setUpTheme();
setUpPanel();
setUpBanner(store, problemActions);
setUpChatView(store, problemActions);
setUpProgressView(store, () => models.cancel());
setUpComposer(store, { ask: (text) => void chat.ask(text), stop: () => chat.stop() });
setUpModelPanel(store, {
  choose: (source) => void models.setSource(source),
  remove: (url) => void models.remove(url),
});
setUpMemoryView(store, (budget) => void models.setBudget(budget));
setUpSpeedView(store);
setUpSettings(store);

byId('new-chat', HTMLButtonElement).addEventListener('click', () => {
  chat.newChat();
  byId('message', HTMLTextAreaElement).focus();
});

void models.load(store.get().choice);

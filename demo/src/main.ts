// SPDX-License-Identifier: MIT
// Joins the parts of the page: one store, the sessions that change it, and the views over it.

import { setUpBlocksView } from './activity/blocks-view.js';
import { setUpMemoryView } from './activity/memory-view.js';
import { setUpProgressView } from './activity/progress-view.js';
import { setUpRecorder } from './activity/recorder.js';
import { setUpSpeedView } from './activity/speed-view.js';
import { ChatSession } from './chat/chat-session.js';
import { setUpChatView } from './chat/chat-view.js';
import { setUpComposer } from './chat/composer.js';
import { setUpContextMeter } from './chat/context-meter.js';
import { setUpConversationList } from './conversations/list-view.js';
import { Library } from './conversations/library.js';
import { setUpConnection } from './offline/connection.js';
import { registerServiceWorker, setUpInstall } from './offline/register.js';
import { StoredModelJobs } from './models/jobs.js';
import { ModelSession } from './models/model-session.js';
import { setUpModelsView } from './models/models-view.js';
import { setUpSettings } from './settings/settings-view.js';
import { createStore, initialState, isSameSource } from './state.js';
import type { Source } from './state.js';
import { byId } from './ui/dom.js';
import { setUpDrawers } from './ui/drawers.js';
import { setUpPages } from './ui/pages.js';
import { setUpBanner } from './ui/problem-card.js';
import { setUpTheme } from './ui/theme.js';

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
const stored = new StoredModelJobs(store, () => models.refreshStored(), openModel);
const library = new Library(store, () => chat.stop());
const drawers = setUpDrawers();
const pages = setUpPages(store);

function newChat(): void {
  library.create();
  toConversation();
}

function toConversation(): void {
  pages.showChat();
  drawers.closeSidebar();
  byId('message', HTMLTextAreaElement).focus();
}

function openModel(source: Source): void {
  pages.showChat();
  const { choice, model } = store.get();
  if (model.kind === 'none' || !isSameSource(choice.source, source)) void models.setSource(source);
}

// The sessions report what fails through the store, so their promises need no handling here.
const actions = {
  retryLoad: () => void models.retry(),
  loadDefault: () => void models.loadDefault(),
  smallestBudget: () => void models.retryWithSmallestBudget(),
  newChat,
  regenerate: (answerId: number) => void chat.regenerate(answerId),
  edit: (questionId: number, text: string) => void chat.edit(questionId, text),
};

setUpTheme();
setUpInstall();
setUpConnection();
setUpBanner(store, actions);
setUpChatView(store, actions);
setUpProgressView(store, () => models.cancel());
setUpComposer(store, { ask: (text) => void chat.ask(text), stop: () => chat.stop() });
setUpContextMeter(store);
setUpConversationList(store, library, toConversation);
setUpModelsView(store, {
  choose: openModel,
  repair: (url) => {
    pages.showChat();
    void models.repair(url);
  },
  remove: (url) => void models.remove(url),
  check: (url) => stored.check(url),
  save: (url) => stored.save(url),
  copy: (files) => {
    pages.showModels();
    stored.copy(files);
  },
  cancel: (key) => stored.cancel(key),
  dismiss: (key) => stored.dismiss(key),
});
setUpMemoryView(store, {
  setBudget: (budget) => void models.setBudget(budget),
  findLimits: () => void models.findLimits(),
});
setUpBlocksView(store);
setUpSpeedView(store);
setUpRecorder(store, () => models.refreshMemory());
setUpSettings(store);
byId('new-chat', HTMLButtonElement).addEventListener('click', newChat);

void library.start();
void models.load(store.get().choice).then(registerServiceWorker);

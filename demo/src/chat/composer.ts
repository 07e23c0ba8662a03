// SPDX-License-Identifier: MIT
// The message field and its buttons, the welcome text and the suggested messages. Enter sends, Shift+Enter breaks the
// line, Esc stops. One can type and send at once: a message waits for the model's header, its answer for the weights.

import {
  GENERAL_SUGGESTIONS,
  TOY_SUGGESTIONS,
  DEFAULT_MODEL,
  isDefaultModel,
} from '../models/default-model.js';
import { byId, make, setText } from '../ui/dom.js';
import { isAnswering } from '../state.js';
import type { State, Store } from '../state.js';

export interface ComposerActions {
  ask(text: string): void;
  stop(): void;
}

export function setUpComposer(store: Store, actions: ComposerActions): void {
  const form = byId('composer', HTMLFormElement);
  const field = byId('message', HTMLTextAreaElement);
  const send = byId('send', HTMLButtonElement);
  const stop = byId('stop', HTMLButtonElement);
  const hint = byId('composer-hint', HTMLElement);

  /** The message was sent while the model loads, and not changed since. */
  let isWaiting = false;

  const hasText = (): boolean => field.value.trim() !== '';
  const canSend = (state: Readonly<State>): boolean =>
    state.model.kind === 'ready' && !isAnswering(state) && hasText();
  const canWait = (state: Readonly<State>): boolean =>
    state.model.kind === 'loading' && !isWaiting && hasText();
  const refresh = (): void => {
    const state = store.get();
    if (state.model.kind === 'none' || state.banner !== null) isWaiting = false;
    send.disabled = !canSend(state) && !canWait(state);
    setText(hint, isWaiting ? 'Will be sent as soon as the model is there.' : hintOf(state));
  };
  const submit = (): void => {
    const state = store.get();
    isWaiting ||= canWait(state);
    if (!canSend(state)) {
      refresh();
      return;
    }
    isWaiting = false;
    actions.ask(field.value);
    field.value = '';
    fit(field);
    refresh();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener('input', () => {
    fit(field);
    isWaiting = false;
    refresh();
  });
  field.addEventListener('keydown', (event) => {
    // An input method confirms its choice with Enter too.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  stop.addEventListener('click', () => {
    actions.stop();
    field.focus();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && isAnswering(store.get())) actions.stop();
  });

  store.subscribe((state) => {
    const answering = isAnswering(state);
    send.hidden = answering;
    stop.hidden = !answering;
    refresh();
    if (isWaiting && canSend(state)) submit();
  });
  setUpWelcome(store, actions);
}

function hintOf(state: Readonly<State>): string {
  if (state.model.kind === 'loading') return 'The model is being opened.';
  if (state.arrival) {
    return isAnswering(state)
      ? 'The answer comes as the weights arrive.'
      : 'You can ask already: the answer comes as the weights arrive.';
  }
  if (state.model.kind === 'none') return 'Choose a model under “Model” to go on.';
  return isDefaultModel(state.choice.source)
    ? 'A toy model: small, quick and often wrong.'
    : 'Models make mistakes. Check what matters.';
}

function fit(field: HTMLTextAreaElement): void {
  field.style.height = 'auto';
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}

function setUpWelcome(store: Store, actions: ComposerActions): void {
  const title = byId('welcome-title', HTMLElement);
  const text = byId('welcome-text', HTMLElement);
  const list = byId('suggestions', HTMLUListElement);
  let shownFor: boolean | null = null;

  store.subscribe((state) => {
    const toy = isDefaultModel(state.choice.source);
    if (shownFor !== toy) {
      shownFor = toy;
      setText(title, toy ? 'Ask it something small' : `Chat with ${state.choice.source.label}`);
      setText(text, toy ? DEFAULT_MODEL.note : 'It runs on this device. What you write stays in this tab.');
      const suggestions = toy ? TOY_SUGGESTIONS : GENERAL_SUGGESTIONS;
      list.replaceChildren(
        ...suggestions.map((suggestion) => suggestionItem(suggestion.title, suggestion.prompt, actions)),
      );
    } else if (!toy) {
      setText(title, `Chat with ${state.choice.source.label}`);
    }
    for (const button of list.querySelectorAll('button')) button.disabled = state.model.kind !== 'ready';
  });
}

function suggestionItem(title: string, prompt: string, actions: ComposerActions): HTMLLIElement {
  const button = make(
    'button',
    { type: 'button', class: 'suggestion' },
    make('span', { class: 'suggestion-title', text: title }),
    make('span', { class: 'suggestion-prompt', text: prompt }),
  );
  button.addEventListener('click', () => actions.ask(prompt));
  return make('li', {}, button);
}

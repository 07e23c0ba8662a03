// SPDX-License-Identifier: MIT
// One turn: a message as it was typed, or an answer as Markdown, with what can be done about it below.

import type { State } from '../state.js';
import { makeCopyButton } from '../ui/copy.js';
import { make, makeButton, setText } from '../ui/dom.js';
import { formatRate, plural, rate } from '../ui/format.js';
import { icon } from '../ui/icons.js';
import type { IconName } from '../ui/icons.js';
import { answerProblem } from '../ui/problem-card.js';
import type { ProblemActions } from '../ui/problem-card.js';
import { MarkdownView } from './markdown-view.js';
import { splitThoughts } from './thoughts.js';
import { isRunning } from './turns.js';
import type { Turn } from './turns.js';

export interface TurnActions extends ProblemActions {
  regenerate(answerId: number): void;
  edit(questionId: number, text: string): void;
}

export interface TurnView {
  item: HTMLLIElement;
  /** The turn as it was shown last. */
  shown: Turn | null;
  update(turn: Turn, state: Readonly<State>): void;
}

export function makeTurnView(turn: Turn, actions: TurnActions): TurnView {
  return turn.role === 'user' ? makeQuestion(turn, actions) : makeAnswer(actions);
}

function makeQuestion(turn: Turn, actions: TurnActions): TurnView {
  const body = make('div', { class: 'body', text: turn.text });
  const copy = makeCopyButton('Copy message', () => turn.text);
  const edit = makeAction('pencil', 'Edit', 'Edit message', () => openEditor(item, turn, actions));
  const shown = make('div', { class: 'message' }, body, make('div', { class: 'foot' }, copy, edit));
  const item = make('li', { class: 'turn user' }, who('You: '), shown);
  const view: TurnView = {
    item,
    shown: null,
    update(changed) {
      view.shown = changed;
    },
  };
  return view;
}

function makeAnswer(actions: TurnActions): TurnView {
  const markdown = new MarkdownView();
  const thoughts = makeThoughts();
  const body = make('div', { class: 'body' }, markdown.element);
  const foot = make('div', { class: 'foot' });
  const item = make('li', { class: 'turn assistant' }, who('Answer: '), thoughts.element, body, foot);
  let hasEnded = false;
  const view: TurnView = {
    item,
    shown: null,
    update(turn, state) {
      view.shown = turn;
      item.dataset['status'] = turn.status;
      item.setAttribute('aria-busy', String(isRunning(turn)));
      const parts = splitThoughts(turn.text);
      thoughts.update(parts.thoughts, parts.answer === '' && isRunning(turn));
      markdown.update(parts.answer);
      if (hasEnded || isRunning(turn)) return;
      hasEnded = true;
      foot.replaceChildren(...footOf(turn, parts.answer, state, actions));
      if (turn.problem) item.append(answerProblem(turn.id, turn.problem, actions));
    },
  };
  return view;
}

function who(text: string): HTMLElement {
  return make('span', { class: 'visually-hidden', text });
}

function makeAction(name: IconName, word: string, label: string, onClick: () => void): HTMLButtonElement {
  const attributes = { 'aria-label': label };
  const button = make('button', { class: 'action', type: 'button', attributes }, icon(name));
  button.append(make('span', { text: word }));
  button.addEventListener('click', onClick);
  return button;
}

function makeThoughts(): { element: HTMLElement; update(text: string | null, isThinking: boolean): void } {
  const label = make('span');
  const markdown = new MarkdownView();
  const element = make('details', { class: 'thoughts' }, make('summary', {}, label), markdown.element);
  element.hidden = true;
  return {
    element,
    update(text, isThinking) {
      element.hidden = text === null || (text === '' && !isThinking);
      setText(label, isThinking ? 'Thinking…' : 'Thought before answering');
      markdown.update(text ?? '');
    },
  };
}

function footOf(turn: Turn, answer: string, state: Readonly<State>, actions: TurnActions): Node[] {
  const parts: Node[] = [];
  if (answer.trim() !== '') parts.push(makeCopyButton('Copy answer', () => answer.trim()));
  if (turn.status === 'done') {
    parts.push(makeAction('refresh', 'Again', 'Answer again', () => actions.regenerate(turn.id)));
  }
  const facts = factsOf(turn, state);
  if (facts.length > 0) parts.push(make('span', { class: 'facts', text: facts.join(' · ') }));
  return parts;
}

function factsOf({ stats, finish }: Turn, state: Readonly<State>): string[] {
  const facts: string[] = [];
  if (stats) facts.push(plural(stats.completionTokens, 'token'));
  const speed = stats ? rate(stats.completionTokens, stats.decodeMs) : null;
  if (speed !== null) facts.push(formatRate(speed));
  if (finish === 'abort') facts.push('stopped');
  if (finish === 'length') facts.push(`ended at the limit of ${plural(state.settings.maxTokens, 'token')}`);
  if (finish === 'context') facts.push('the context is full: start a new chat to go on');
  return facts;
}

/** Puts a field in the place of a message; Ctrl+Enter sends, Esc leaves it as it was. */
function openEditor(item: HTMLLIElement, turn: Turn, actions: TurnActions): void {
  const field = make('textarea', { attributes: { rows: '3', 'aria-label': 'Edit message' } });
  field.value = turn.text;
  const shown = item.querySelector<HTMLElement>('.message');
  const close = (): void => {
    editor.remove();
    if (shown) shown.hidden = false;
    item.querySelector<HTMLElement>('[aria-label="Edit message"]')?.focus();
  };
  const send = (): void => {
    if (field.value.trim() !== '') actions.edit(turn.id, field.value);
  };
  const buttons = make('div', { class: 'buttons' }, makeButton('Cancel', 'small', close));
  buttons.append(makeButton('Send', 'small primary', send));
  const note = make('p', { class: 'note', text: 'What came after this message is replaced.' });
  const editor = make(
    'div',
    { class: 'editor' },
    field,
    make('div', { class: 'editor-foot' }, note, buttons),
  );
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    }
  });
  if (shown) shown.hidden = true;
  item.append(editor);
  field.focus();
}

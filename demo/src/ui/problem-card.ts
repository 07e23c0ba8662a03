// SPDX-License-Identifier: MIT
// A problem as a person sees it: a sentence, a next step, a button where there is a way out, and the package's own
// message folded away for whoever wants to report it.

import { byId, make, makeButton } from './dom.js';
import type { Problem } from './errors.js';
import { isDefaultModel } from '../models/default-model.js';
import type { State, Store } from '../state.js';

export interface ProblemActions {
  retryLoad(): void;
  loadDefault(): void;
  newChat(): void;
  regenerate(answerId: number): void;
  smallestBudget(): void;
}

export function problemCard(problem: Problem, buttons: HTMLButtonElement[] = []): HTMLElement {
  const words = make('p', {}, make('strong', { text: problem.sentence }), ` ${problem.nextStep}`);
  const element = make('div', { class: 'problem', attributes: { 'data-code': problem.code } }, words);
  if (problem.detail !== '') {
    const detail = make('p', { class: 'detail', text: `${problem.code}: ${problem.detail}` });
    element.append(make('details', {}, make('summary', { text: 'Details' }), detail));
  }
  if (buttons.length > 0) element.append(make('div', { class: 'problem-buttons' }, ...buttons));
  return element;
}

/** Under an answer that failed. */
export function answerProblem(answerId: number, problem: Problem, actions: ProblemActions): HTMLElement {
  const buttons = [makeButton('Ask again', 'small', () => actions.regenerate(answerId))];
  if (problem.action === 'new-chat') buttons.unshift(makeButton('New chat', 'small', actions.newChat));
  return problemCard(problem, buttons);
}

/** Above the composer: a load that failed. */
export function setUpBanner(store: Store, actions: ProblemActions): void {
  const banner = byId('banner', HTMLElement);
  let shown: Problem | null = null;
  let shownKind = '';
  store.subscribe((state) => {
    if (state.banner === shown && state.model.kind === shownKind) return;
    shown = state.banner;
    shownKind = state.model.kind;
    if (!shown) banner.replaceChildren();
    else banner.replaceChildren(problemCard(shown, bannerButtons(shown, state, store, actions)));
  });
}

function bannerButtons(
  problem: Problem,
  state: Readonly<State>,
  store: Store,
  actions: ProblemActions,
): HTMLButtonElement[] {
  const buttons: HTMLButtonElement[] = [];
  if (problem.action === 'retry') {
    const label = problem.code === 'load_cancelled' ? 'Go on' : 'Try again';
    buttons.push(makeButton(label, 'small', actions.retryLoad));
  }
  if (problem.action === 'smallest-budget') {
    buttons.push(makeButton('Use the smallest budget', 'small', actions.smallestBudget));
  }
  if (state.model.kind === 'none' && !isDefaultModel(state.choice.source)) {
    buttons.push(makeButton('Use the built-in model', 'small', actions.loadDefault));
  }
  buttons.push(makeButton('Dismiss', 'link', () => store.update({ banner: null })));
  return buttons;
}

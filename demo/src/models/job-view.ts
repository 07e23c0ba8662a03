// SPDX-License-Identifier: MIT
// A job on a stored model: how far it is, with a way to cancel it, and what it found.

import { make, makeButton, setText } from '../ui/dom.js';
import { formatPart, percent } from '../ui/format.js';
import { problemCard } from '../ui/problem-card.js';
import type { Store } from '../state.js';
import type { Job, Outcome, StoredModelActions } from './jobs.js';

export interface JobSlots {
  /** Where the job with this key is shown; empty while there is none. The same element for as long as the page lives. */
  of(key: string): HTMLElement;
}

const DOING: Record<Job['kind'], string> = { check: 'Checking', save: 'Saving', copy: 'Copying' };

interface JobActions extends StoredModelActions {
  repair(url: string): void;
}

export function makeJobSlots(store: Store, actions: JobActions): JobSlots {
  const slots = new Map<string, { element: HTMLElement; show(job: Job | null): void }>();
  store.subscribe(({ jobs }) => {
    for (const [key, slot] of slots) slot.show(jobs[key] ?? null);
  });
  return {
    of(key) {
      let slot = slots.get(key);
      if (!slot) {
        slot = makeSlot(key, actions);
        slots.set(key, slot);
        slot.show(store.get().jobs[key] ?? null);
      }
      return slot.element;
    },
  };
}

function makeSlot(key: string, actions: JobActions) {
  const element = make('div', { class: 'job', attributes: { 'aria-live': 'polite' } });
  const doing = make('span');
  // Screen readers hear what is done and what came of it; how far it is they can ask the bar.
  const figures = make('span', { attributes: { 'aria-hidden': 'true' } });
  const bar = make('progress', { attributes: { max: '100' } });
  const line = make(
    'div',
    { class: 'row' },
    make('span', { class: 'job-words' }, doing, figures),
    makeButton('Cancel', 'link', () => actions.cancel(key)),
  );
  let shown: Outcome | 'running' | null = null;
  const showProgress = ({ kind, doneBytes, totalBytes }: Job): void => {
    setText(doing, DOING[kind]);
    setText(figures, totalBytes > 0 ? `, ${formatPart(doneBytes, totalBytes)}` : '');
    bar.setAttribute('aria-label', DOING[kind]);
    if (totalBytes > 0) bar.value = percent(doneBytes, totalBytes);
    else bar.removeAttribute('value');
  };
  return {
    element,
    show(job: Job | null) {
      if (job?.outcome === null) {
        showProgress(job);
        if (shown !== 'running') element.replaceChildren(line, bar);
        shown = 'running';
        return;
      }
      const outcome = job?.outcome ?? null;
      if (outcome === shown) return;
      shown = outcome;
      element.replaceChildren(...(outcome ? [makeOutcome(key, outcome, actions)] : []));
    },
  };
}

function makeOutcome(key: string, outcome: Outcome, actions: JobActions): HTMLElement {
  const dismiss = makeButton('Dismiss', 'link', () => actions.dismiss(key));
  if (outcome.kind === 'failed') return problemCard(outcome.problem, [dismiss]);
  const repair = (): void => {
    actions.dismiss(key);
    actions.repair(key);
  };
  return make(
    'div',
    { class: 'row' },
    make('span', { class: 'job-words', text: outcome.words }),
    ...(outcome.canRepair ? [makeButton('Repair', 'small', repair)] : []),
    dismiss,
  );
}

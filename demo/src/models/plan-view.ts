// SPDX-License-Identifier: MIT
// How a model would run on this device, asked of the package, which reads its header and measures the device for a
// moment. Asked for by hand: it asks the model's server.

import { planModel } from 'layerstream';
import type { ModelPlan } from 'layerstream';
import { make, makeButton } from '../ui/dom.js';
import { problemOf } from '../ui/errors.js';
import { formatBytes, formatRate } from '../ui/format.js';
import { problemCard } from '../ui/problem-card.js';

/** A button, and below it what it finds. `name` is for screen readers. */
export function makePlanView(url: string, name: string): HTMLElement {
  const outcome = make('div', { attributes: { 'aria-live': 'polite' } });
  const button = makeButton('How would it run here?', 'link', () => {
    button.disabled = true;
    outcome.replaceChildren(
      make('p', { class: 'note', text: 'Reading its header and measuring this device…' }),
    );
    void planModel(url)
      .then((plan) => outcome.replaceChildren(describe(plan)))
      .catch((error: unknown) => outcome.replaceChildren(problemCard(problemOf(error))))
      .finally(() => {
        button.disabled = false;
      });
  });
  button.setAttribute('aria-label', `How would it run here? ${name}`);
  return make('div', { class: 'plan' }, button, outcome);
}

function describe({
  resident,
  estimate,
  memory,
  readBytesPerToken,
  fileBytes,
  blockCount,
}: ModelPlan): HTMLElement {
  const speed = estimate ? `, about ${formatRate(estimate.tokensPerSecond)}` : '';
  const reading = resident ? '' : `, reading ${formatBytes(readBytesPerToken)} from disk for every token`;
  const verdict = `${resident ? 'Runs from memory' : 'Streams from disk'}${speed}${reading}.`;
  const weights = memory.pinnedBytes + memory.slotBytes;
  const needs = [
    `${formatBytes(memory.totalBytes)} of memory (weights ${formatBytes(weights)}, conversation ${formatBytes(memory.kvBytes)})`,
    `${formatBytes(fileBytes)} of disk`,
    `${blockCount} blocks`,
  ].join(' · ');
  const element = make('div', { class: 'plan-facts' }, make('p', { text: verdict }));
  element.append(make('p', { class: 'note', text: needs }));
  return element;
}

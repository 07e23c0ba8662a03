// SPDX-License-Identifier: MIT
// Speed of the last answer, and of the running one over time: what is written, and what is read from disk for it.

import type { Store } from '../state.js';
import { byId, make, setText } from '../ui/dom.js';
import { formatBytes, formatRate } from '../ui/format.js';
import { makeChart } from './chart.js';
import type { Sample } from './recorder.js';

export function setUpSpeedView(store: Store): void {
  const prefill = make('dd', { id: 'rate-prefill', text: '–' });
  const decode = make('dd', { id: 'rate-decode', text: '–' });
  const tokens = makeChart('Tokens written', formatRate);
  const bytes = makeChart('Read from disk', (value) => `${formatBytes(value)}/s`);
  byId('speed-section', HTMLElement).append(
    make('h2', { id: 'speed-title', text: 'Speed' }),
    make(
      'dl',
      { class: 'tiles' },
      make('div', {}, make('dt', { text: 'Reading the prompt' }), prefill),
      make('div', {}, make('dt', { text: 'Writing' }), decode),
    ),
    tokens.element,
    bytes.element,
  );

  let shown: readonly Sample[] | null = null;
  store.subscribe((state) => {
    setText(prefill, formatRate(state.prefillRate));
    setText(decode, formatRate(state.decodeRate));
    if (state.samples === shown) return;
    shown = state.samples;
    tokens.update(shown.map((sample) => sample.tokensPerSecond));
    bytes.update(shown.map((sample) => sample.bytesPerSecond));
  });
}

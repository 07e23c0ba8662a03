// SPDX-License-Identifier: MIT
// Speed of the last answer and how full the context is.

import { byId, make, setText } from './dom.js';
import { formatCount, formatRate, percent } from './format.js';
import type { Store } from './state.js';

export function setUpSpeedView(store: Store): void {
  const prefill = make('dd', { id: 'rate-prefill', text: '–' });
  const decode = make('dd', { id: 'rate-decode', text: '–' });
  const fill = make('span', { class: 'bar-fill' });
  const caption = make('p', { class: 'bar-caption', id: 'context-used' });
  byId('speed-section', HTMLElement).append(
    make('h3', { id: 'speed-title', text: 'Speed and context' }),
    make(
      'dl',
      { class: 'tiles' },
      make('div', {}, make('dt', { text: 'Reading' }), prefill),
      make('div', {}, make('dt', { text: 'Writing' }), decode),
    ),
    make('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } }, fill),
    caption,
  );

  store.subscribe((state) => {
    setText(prefill, formatRate(state.prefillRate));
    setText(decode, formatRate(state.decodeRate));
    const length = state.model.kind === 'ready' ? state.model.info.contextLength : 0;
    const share = percent(state.contextUsed, length);
    fill.style.width = `${share}%`;
    fill.dataset['full'] = String(share > 85);
    setText(
      caption,
      length > 0 ? `${formatCount(state.contextUsed)} of ${formatCount(length)} tokens of context used` : '–',
    );
  });
}

// SPDX-License-Identifier: MIT
// Speed of the last answer, and of the running one.

import type { Store } from '../state.js';
import { byId, make, setText } from '../ui/dom.js';
import { formatRate } from '../ui/format.js';

export function setUpSpeedView(store: Store): void {
  const prefill = make('dd', { id: 'rate-prefill', text: '–' });
  const decode = make('dd', { id: 'rate-decode', text: '–' });
  byId('speed-section', HTMLElement).append(
    make('h2', { id: 'speed-title', text: 'Speed' }),
    make(
      'dl',
      { class: 'tiles' },
      make('div', {}, make('dt', { text: 'Reading' }), prefill),
      make('div', {}, make('dt', { text: 'Writing' }), decode),
    ),
  );

  store.subscribe((state) => {
    setText(prefill, formatRate(state.prefillRate));
    setText(decode, formatRate(state.decodeRate));
  });
}

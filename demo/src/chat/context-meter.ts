// SPDX-License-Identifier: MIT
// How much of what the model can read at once the conversation takes.

import type { Store } from '../state.js';
import { byId, setText } from '../ui/dom.js';
import { formatCount } from '../ui/format.js';
import { contextUsedBy } from './turns.js';

/** From here on the meter warns. */
const NEARLY_FULL = 0.85;

export function setUpContextMeter(store: Store): void {
  const root = byId('context', HTMLElement);
  const meter = byId('context-meter', HTMLMeterElement);
  const caption = byId('context-used', HTMLElement);
  store.subscribe(({ model, turns, pass }) => {
    const length = model.kind === 'ready' ? model.info.contextLength : 0;
    const used = Math.max(contextUsedBy(turns), pass?.promptTokens ?? 0);
    root.hidden = length === 0 || used === 0;
    meter.max = Math.max(length, 1);
    meter.high = meter.max * NEARLY_FULL;
    meter.value = used;
    setText(caption, `${formatCount(used)} of ${formatCount(length)} tokens of context`);
  });
}

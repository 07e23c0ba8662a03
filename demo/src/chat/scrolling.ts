// SPDX-License-Identifier: MIT
// Follows the answer while the reader is at the end of it, and stays put when they have scrolled back.

import type { Store } from '../state.js';
import { byId } from '../ui/dom.js';

export interface Scrolling {
  follow(): void;
  toEnd(): void;
}

const NEAR_THE_END_PX = 48;

export function setUpScrolling(store: Store): Scrolling {
  const scroller = byId('scroller', HTMLElement);
  const jump = byId('jump', HTMLButtonElement);
  let following = true;
  const update = (): void => {
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_THE_END_PX;
    jump.hidden = following || store.get().turns.length === 0;
  };
  const toEnd = (): void => {
    scroller.scrollTop = scroller.scrollHeight;
    update();
  };
  const follow = (): void => {
    if (following && store.get().turns.length > 0) toEnd();
    else update();
  };
  scroller.addEventListener('scroll', update, { passive: true });
  jump.addEventListener('click', toEnd);
  // The window, a banner or a growing message field changes how much is visible.
  new ResizeObserver(follow).observe(scroller);
  return { follow, toEnd };
}

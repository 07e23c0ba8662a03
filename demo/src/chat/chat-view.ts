// SPDX-License-Identifier: MIT
// The conversation as a list. Screen readers hear an answer once, whole, through the announcer, instead of token by
// token.

import { isAnswering } from '../state.js';
import type { State, Store } from '../state.js';
import { byId, setText } from '../ui/dom.js';
import { setUpScrolling } from './scrolling.js';
import { splitThoughts } from './thoughts.js';
import { makeTurnView } from './turn-view.js';
import type { TurnActions, TurnView } from './turn-view.js';
import type { Turn } from './turns.js';

export function setUpChatView(store: Store, actions: TurnActions): void {
  const log = byId('log', HTMLOListElement);
  const welcome = byId('welcome', HTMLElement);
  const scroll = setUpScrolling(store);
  const announce = setUpAnnouncer();
  const views = new Map<number, TurnView>();

  store.subscribe((state) => {
    welcome.hidden = state.turns.length > 0;
    log.dataset['answering'] = String(isAnswering(state));
    removeMissing(views, state.turns);
    let isNew = false;
    for (const turn of state.turns) {
      let view = views.get(turn.id);
      if (!view) {
        view = makeTurnView(turn, actions);
        views.set(turn.id, view);
        log.append(view.item);
        isNew = true;
      }
      if (view.shown === turn) continue;
      view.update(turn, state);
    }
    announce(state);
    if (isNew) scroll.toEnd();
    else scroll.follow();
  });
}

function removeMissing(views: Map<number, TurnView>, turns: readonly Turn[]): void {
  const present = new Set(turns.map((turn) => turn.id));
  for (const [id, { item }] of views) {
    if (present.has(id)) continue;
    item.remove();
    views.delete(id);
  }
}

/** Says when an answer begins, and the answer when it has ended; not what was there when a conversation was opened. */
function setUpAnnouncer(): (state: Readonly<State>) => void {
  const announcer = byId('announcer', HTMLElement);
  let running: number | null = null;
  return (state) => {
    const last = state.turns.at(-1);
    if (isAnswering(state)) {
      if (running !== last?.id) setText(announcer, 'Answering.');
      running = last?.id ?? null;
      return;
    }
    if (last && last.id === running) {
      setText(announcer, last.problem ? last.problem.sentence : splitThoughts(last.text).answer);
    }
    running = null;
  };
}

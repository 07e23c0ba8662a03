// SPDX-License-Identifier: MIT
// The model's blocks as cells, in the order of a pass: those that stay in memory filled, those that are read from disk
// hollow, those that are still being downloaded faint, those of the running pass that are done lit, and the one at work
// highlighted. The idea of the project at a glance.

import { isAnswering } from '../state.js';
import type { State, Store } from '../state.js';
import { byId, make, setText } from '../ui/dom.js';
import { percent, plural } from '../ui/format.js';

export function setUpBlocksView(store: Store): void {
  const cells = make('div', { class: 'cells', id: 'cells', attributes: { role: 'img' } });
  const caption = make('p', { class: 'note', id: 'blocks-caption' });
  const absent = legendEntry('absent', 'not here yet');
  const legend = make(
    'ul',
    { class: 'legend', attributes: { 'aria-label': 'Colours of the cells' } },
    legendEntry('pinned', 'in memory'),
    legendEntry('streaming', 'read from disk'),
    absent,
    legendEntry('computing', 'computing'),
  );
  byId('blocks-section', HTMLElement).append(
    make('h2', { id: 'blocks-title', text: 'Blocks' }),
    cells,
    legend,
    caption,
  );
  store.subscribe((state) => {
    showCells(cells, state);
    absent.hidden = state.arrival === null;
    setText(caption, captionOf(state));
  });
}

function legendEntry(name: string, text: string): HTMLLIElement {
  return make('li', {}, make('i', { class: `cell ${name}` }), text);
}

function showCells(strip: HTMLElement, state: Readonly<State>): void {
  const count = state.model.kind === 'ready' ? state.model.info.blockCount : 0;
  while (strip.childElementCount < count) strip.append(make('i'));
  while (strip.childElementCount > count) strip.lastElementChild?.remove();
  strip.dataset['dense'] = String(count > 40);
  const pinned = pinnedBlocks(state, count);
  const arrived = arrivedBlocks(state, count);
  const running = isAnswering(state) ? state.pass : null;
  for (const [index, cell] of [...strip.children].entries()) {
    const residence = index >= arrived ? 'absent' : index < pinned ? 'pinned' : 'streaming';
    const work = !running
      ? ''
      : index < running.block
        ? ' done'
        : index === running.block
          ? ' computing'
          : '';
    const name = `cell ${residence}${work}`;
    if (cell.className !== name) cell.className = name;
  }
  const now = running ? `, computing block ${Math.min(running.block + 1, count)}` : '';
  const here = arrived < count ? `about ${arrived} have arrived` : `${pinned} in memory`;
  strip.setAttribute('aria-label', `${plural(count, 'block')}, ${here}${now}`);
}

/** How many blocks' worth of weights is here: they are fetched in the order of a pass, with the embedding and the head. */
function arrivedBlocks({ arrival }: Readonly<State>, count: number): number {
  if (!arrival) return count;
  return Math.floor((percent(arrival.loadedBytes, arrival.totalBytes) / 100) * count);
}

/** How many blocks' worth of weights the plan pins. */
function pinnedBlocks({ memory }: Readonly<State>, count: number): number {
  if (!memory || memory.totalWeightBytes === 0) return 0;
  return Math.min(count, Math.round((memory.pinnedBytes / memory.totalWeightBytes) * count));
}

function captionOf(state: Readonly<State>): string {
  if (state.model.kind !== 'ready' || !state.memory) return '';
  const count = state.model.info.blockCount;
  if (state.arrival) {
    return `Every word takes one walk through all blocks. About ${arrivedBlocks(state, count)} of ${count} have arrived; an answer waits for the others.`;
  }
  const pinned = pinnedBlocks(state, count);
  if (pinned === count) return 'Every word takes one walk through all blocks. All of them are in memory.';
  if (pinned === 0)
    return 'Every word takes one walk through all blocks. Each is read from disk, used and let go.';
  return `Every word takes one walk through all blocks. ${pinned} stay in memory, the others are read from disk, used and let go.`;
}

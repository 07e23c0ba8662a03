// SPDX-License-Identifier: MIT
// Models that can be opened at once: the built-in one, those on this device, and what is open if it is neither.

import type { StoredModel } from 'layerstream';
import { isSameSource } from '../state.js';
import type { Source, State } from '../state.js';
import { make, makeIconButton } from '../ui/dom.js';
import { formatBytes, formatPart, plural } from '../ui/format.js';
import { labelOfUrl } from './addresses.js';
import { DEFAULT_MODEL, isDefaultModel } from './default-model.js';
import type { ModelActions } from './models-view.js';

interface Row {
  source: Source;
  label: string;
  facts: string;
  isOpen: boolean;
  /** Key in the store, for models that can be deleted. */
  removable?: string;
}

export function modelRows(state: Readonly<State>, actions: ModelActions): HTMLLIElement[] {
  return rowsOf(state).map((row) => makeRow(row, actions));
}

function rowsOf(state: Readonly<State>): Row[] {
  const rows: Row[] = [
    {
      source: DEFAULT_MODEL.source,
      label: DEFAULT_MODEL.source.label,
      facts: 'Comes with this page. A toy: 5.6 MB, quick, often wrong.',
      isOpen: false,
    },
  ];
  for (const stored of state.stored) {
    const source: Source = { kind: 'url', url: stored.url, label: labelOfUrl(stored.url) };
    if (isDefaultModel(source)) continue;
    rows.push({
      source,
      label: source.label,
      facts: storedFacts(stored),
      isOpen: false,
      removable: stored.url,
    });
  }
  if (state.model.kind === 'none') return rows;
  let open = rows.find((row) => isSameSource(row.source, state.choice.source));
  if (!open) {
    open = { source: state.choice.source, label: state.choice.source.label, facts: '', isOpen: false };
    rows.push(open);
  }
  open.isOpen = true;
  open.facts = openFacts(state);
  return rows;
}

function storedFacts({ state, bytes, totalBytes }: StoredModel): string {
  if (state === 'complete') return `${formatBytes(bytes)}, on this device`;
  const part = totalBytes > 0 ? formatPart(bytes, totalBytes) : formatBytes(bytes);
  return state === 'partial'
    ? `Paused: ${part} are here. Choose it to go on.`
    : `Damaged: ${part} are sound. Choose it to fetch the rest again.`;
}

function openFacts({ model, arrival }: Readonly<State>): string {
  if (model.kind !== 'ready') return 'Loading';
  const { info } = model;
  const where = {
    opfs: 'kept on this device',
    file: 'read from your file',
    memory: 'in memory only: this browser offers no storage here',
  }[info.storage];
  const shape = [
    info.architecture,
    plural(info.blockCount, 'block'),
    `context of ${plural(info.contextLength, 'token')}`,
  ];
  const state = arrival ? 'downloading' : where;
  return [formatBytes(info.fileBytes), ...shape, state].join(' · ');
}

function makeRow({ source, label, facts, isOpen, removable }: Row, actions: ModelActions): HTMLLIElement {
  const words = make(
    'span',
    { class: 'model-row-words' },
    make('span', { class: 'model-row-name', text: label }),
    make('span', { class: 'model-row-facts', text: facts }),
  );
  const attributes = { 'aria-pressed': String(isOpen) };
  const button = make('button', { type: 'button', class: 'model-row', attributes }, words);
  if (isOpen) button.append(make('span', { class: 'badge', text: 'open' }));
  button.addEventListener('click', () => actions.choose(source));
  const item = make('li', {}, button);
  if (removable !== undefined && !isOpen) {
    const remove = (): void => actions.remove(removable);
    item.append(makeIconButton('trash', `Delete ${label} from this device`, remove));
  }
  return item;
}

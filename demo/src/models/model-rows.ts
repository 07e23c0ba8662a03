// SPDX-License-Identifier: MIT
// Models that can be opened at once: the built-in one, those on this device, and what is open if it is neither.

import type { StoredModel } from 'layerstream';
import { isSameSource } from '../state.js';
import type { Source, State } from '../state.js';
import { make, makeButton, makeIconButton } from '../ui/dom.js';
import { formatBytes, formatPart, plural } from '../ui/format.js';
import { openMenu } from '../ui/menu.js';
import type { MenuItem } from '../ui/menu.js';
import { isImported, labelOfUrl } from './addresses.js';
import { DEFAULT_MODEL, isDefaultModel } from './default-model.js';
import type { JobSlots } from './job-view.js';
import type { ModelActions } from './models-view.js';

interface Row {
  source: Source;
  label: string;
  facts: string;
  isOpen: boolean;
  /** What the store has of it. */
  stored: StoredModel | null;
}

export function modelRows(state: Readonly<State>, actions: ModelActions, jobs: JobSlots): HTMLLIElement[] {
  return rowsOf(state).map((row) => makeRow(row, actions, jobs));
}

function rowsOf(state: Readonly<State>): Row[] {
  const row = (source: Source, facts: string, stored: StoredModel | null): Row => {
    return { source, label: source.label, facts, isOpen: false, stored };
  };
  const isDefault = ({ url }: StoredModel): boolean => isDefaultModel({ kind: 'url', url, label: '' });
  const builtIn = state.stored.find(isDefault) ?? null;
  const rows = [row(DEFAULT_MODEL.source, defaultFacts(builtIn), builtIn)];
  for (const stored of state.stored) {
    if (isDefault(stored)) continue;
    const { url } = stored;
    rows.push(row({ kind: 'url', url, label: labelOfUrl(url) }, storedFacts(stored), stored));
  }
  if (state.model.kind === 'none') return rows;
  let open = rows.find(({ source }) => isSameSource(source, state.choice.source));
  if (!open) {
    open = row(state.choice.source, '', null);
    rows.push(open);
  }
  open.isOpen = true;
  open.facts = openFacts(state);
  return rows;
}

function defaultFacts(stored: StoredModel | null): string {
  return stored?.state === 'damaged'
    ? storedFacts(stored)
    : 'Comes with this page. A toy: 5.6 MB, quick, often wrong.';
}

function storedFacts({ url, state, bytes, totalBytes }: StoredModel): string {
  if (state === 'complete') return `${formatBytes(bytes)}, on this device`;
  const part = totalBytes > 0 ? formatPart(bytes, totalBytes) : formatBytes(bytes);
  if (isImported(url)) return `Not whole: ${part} are here. Copy the file in again to go on.`;
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
    network: 'read from its server for every word: this browser offers no storage here',
  }[info.storage];
  const shape = [
    info.architecture,
    plural(info.blockCount, 'block'),
    `context of ${plural(info.contextLength, 'token')}`,
  ];
  const state = arrival ? 'downloading' : where;
  // A dot stays with what is before it.
  return [formatBytes(info.fileBytes), ...shape, state].join('\u00a0· ');
}

function makeRow(row: Row, actions: ModelActions, jobs: JobSlots): HTMLLIElement {
  const { source, label, facts, isOpen, stored } = row;
  const name = make('span', { class: 'model-row-name', text: label });
  if (isOpen) name.append(make('span', { class: 'badge', text: 'open' }));
  const words = make(
    'span',
    { class: 'model-row-words' },
    name,
    make('span', { class: 'model-row-facts', text: facts }),
  );
  const attributes = { 'aria-pressed': String(isOpen) };
  const button = make('button', { type: 'button', class: 'model-row', attributes }, words);
  button.addEventListener('click', () => actions.choose(source));
  button.disabled = stored !== null && isImported(stored.url) && !stored.complete;
  const item = make('li', {}, button);
  if (stored) item.append(makeMenu(label, menuOf(row, stored, actions)), jobs.of(stored.url));
  if (source.kind === 'file' && isOpen) {
    const keep = makeButton('Keep a copy', 'small', () => actions.copy(source.files));
    keep.setAttribute('aria-label', `Keep a copy of ${label} on this device`);
    item.append(keep);
  }
  return item;
}

function makeMenu(label: string, items: readonly MenuItem[]): HTMLButtonElement {
  const more = makeIconButton('dots', `Options for ${label}`, () => {
    openMenu(more, `Options for ${label}`, items);
  });
  more.setAttribute('aria-haspopup', 'menu');
  more.setAttribute('aria-expanded', 'false');
  return more;
}

function menuOf({ source, isOpen }: Row, { url, complete }: StoredModel, actions: ModelActions): MenuItem[] {
  const items: MenuItem[] = [{ label: 'Check', icon: 'check', run: () => actions.check(url) }];
  if (complete) items.push({ label: 'Save as a file', icon: 'download', run: () => actions.save(url) });
  if (!isOpen && !isDefaultModel(source)) {
    items.push({ label: 'Delete', icon: 'trash', run: () => actions.remove(url) });
  }
  return items;
}

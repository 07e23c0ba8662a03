// SPDX-License-Identifier: MIT
// Memory: how much the engine may use, and how much of the model is in memory against the whole of it.

import type { MemoryReport } from 'layerstream';
import { byId, make, setText } from '../ui/dom.js';
import { MEGABYTE, formatBytes, formatPart, percent } from '../ui/format.js';
import type { Budget, Store } from '../state.js';

const KINDS: readonly { kind: Budget['kind']; label: string }[] = [
  { kind: 'unlimited', label: 'No limit' },
  { kind: 'min', label: 'Smallest' },
  { kind: 'bytes', label: 'Set' },
];

export interface MemoryActions {
  setBudget(budget: Budget): void;
  findLimits(): void;
}

export function setUpMemoryView(store: Store, actions: MemoryActions): void {
  const section = byId('memory-section', HTMLElement);
  section.append(
    make('h2', { id: 'memory-title', text: 'Memory' }),
    makeKinds(store, actions),
    makeAmount(store, actions),
    makeNote(store),
  );
  setUpReport(store, section);
}

function makeKinds(store: Store, actions: MemoryActions): HTMLElement {
  const attributes = { role: 'radiogroup', 'aria-label': 'Memory budget' };
  const group = make('div', { class: 'segments', attributes });
  for (const { kind, label } of KINDS) {
    const id = `budget-${kind}`;
    const radio = make('input', { id, type: 'radio', attributes: { name: 'budget', value: kind } });
    radio.addEventListener('change', () => {
      const { choice, memory } = store.get();
      // The first amount is what the model has now.
      const bytes = kind === 'bytes' ? (memory?.plannedBytes ?? choice.budget.bytes) : choice.budget.bytes;
      actions.setBudget({ kind, bytes });
    });
    group.append(make('label', { attributes: { for: id } }, radio, make('span', { text: label })));
    store.subscribe(({ choice }) => {
      radio.checked = choice.budget.kind === kind;
    });
  }
  return group;
}

/** A slider between the smallest plan and the whole model, and a field for a number of one's own. */
function makeAmount(store: Store, actions: MemoryActions): HTMLElement {
  const slider = make('input', {
    id: 'budget-slider',
    type: 'range',
    attributes: { 'aria-label': 'Memory budget, slider' },
  });
  const amount = make('input', {
    id: 'budget-amount',
    type: 'number',
    attributes: { min: '0', step: 'any', inputmode: 'decimal' },
  });
  const label = make('label', { text: 'At most', attributes: { for: 'budget-amount' } });
  const row = make('div', { class: 'row amount' }, label, amount, make('span', { text: 'MB' }));
  const element = make('div', { class: 'budget' }, slider, row);
  const set = (bytes: number): void => actions.setBudget({ kind: 'bytes', bytes: Math.round(bytes) });
  const show = (bytes: number): void => {
    amount.value = String(Number((bytes / MEGABYTE).toPrecision(4)));
  };
  slider.addEventListener('input', () => show(slider.valueAsNumber));
  slider.addEventListener('change', () => set(slider.valueAsNumber));
  amount.addEventListener('change', () => {
    if (amount.valueAsNumber > 0) set(amount.valueAsNumber * MEGABYTE);
    else show(store.get().choice.budget.bytes);
  });

  let asked: unknown = null;
  store.subscribe(({ choice: { budget }, limits, model }) => {
    element.hidden = budget.kind !== 'bytes';
    slider.hidden = limits === null;
    slider.disabled = amount.disabled = model.kind === 'loading';
    if (limits) {
      slider.min = String(limits.minBytes);
      slider.max = String(limits.fullBytes);
      slider.step = String(Math.max(1, Math.round((limits.fullBytes - limits.minBytes) / 100)));
    } else if (budget.kind === 'bytes' && model.kind === 'ready' && asked !== model.info) {
      asked = model.info;
      actions.findLimits();
    }
    if (document.activeElement === amount || slider.matches(':active')) return;
    show(budget.bytes);
    slider.value = String(budget.bytes);
  });
  return element;
}

function makeNote(store: Store): HTMLElement {
  const note = make('p', { class: 'note' });
  store.subscribe(({ choice }) => setText(note, NOTES[choice.budget.kind]));
  return note;
}

const NOTES: Record<Budget['kind'], string> = {
  unlimited: 'The whole model stays in memory if it fits. Fastest.',
  min: 'A few slots only: weights are read from disk block by block, again for every token. Same answers, slower.',
  bytes:
    'As much of the model as fits stays in memory. More acts at once; less opens the engine anew and keeps the chat.',
};

interface Row {
  id: string;
  label: string;
  value: (memory: MemoryReport) => number;
}

const ROWS: readonly Row[] = [
  { id: 'memory-resident', label: 'Weights, now', value: (memory) => memory.residentWeightBytes },
  {
    id: 'memory-allowed',
    label: 'Weights, allowed by the plan',
    value: (memory) => memory.pinnedBytes + memory.slotBytes,
  },
  { id: 'memory-kv', label: 'Conversation (KV cache)', value: (memory) => memory.kvBytes },
  { id: 'memory-work', label: 'Work space', value: (memory) => memory.activationBytes + memory.fixedBytes },
  { id: 'memory-total', label: 'Plan in all', value: (memory) => memory.totalBytes },
  { id: 'memory-wasm', label: 'Taken from the browser', value: (memory) => memory.wasmBytes },
  { id: 'memory-read', label: 'Read from disk so far', value: (memory) => memory.bytesRead },
];

function setUpReport(store: Store, section: HTMLElement): void {
  const fill = make('span', { class: 'bar-fill' });
  const bar = make('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } }, fill);
  const caption = make('p', { class: 'bar-caption', id: 'memory-peak', text: '–' });
  const values = ROWS.map(({ id }) => make('dd', { id, text: '–' }));
  const rows = ROWS.map(({ label }, index) =>
    make('div', {}, make('dt', { text: label }), values[index] ?? ''),
  );
  const details = make(
    'details',
    { class: 'figures' },
    make('summary', { text: 'All figures' }),
    make('dl', {}, ...rows),
  );
  section.append(bar, caption, details);

  let shown: MemoryReport | null | undefined;
  store.subscribe(({ memory }) => {
    if (memory === shown) return;
    shown = memory;
    const total = memory?.totalWeightBytes ?? 0;
    const peak = memory?.peakResidentWeightBytes ?? 0;
    fill.style.width = `${percent(peak, total)}%`;
    setText(caption, memory ? captionOf(peak, total) : '–');
    setBytes(caption, memory ? peak : undefined);
    caption.dataset['total'] = String(total);
    for (const [index, row] of ROWS.entries()) {
      const value = values[index];
      if (!value) continue;
      setText(value, memory ? formatBytes(row.value(memory)) : '–');
      setBytes(value, memory ? row.value(memory) : undefined);
    }
  });
}

/** The most that was in memory at once: between passes a streaming engine holds nothing, which says little. */
function captionOf(peak: number, total: number): string {
  if (peak === 0) return `${formatBytes(total)}, none of it in memory yet`;
  return `At most ${formatPart(peak, total)} in memory at once`;
}

/** The exact figure, for tests and for whoever looks closely. */
function setBytes(element: HTMLElement, bytes: number | undefined): void {
  if (bytes === undefined) delete element.dataset['bytes'];
  else element.dataset['bytes'] = String(bytes);
}

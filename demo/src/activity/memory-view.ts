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

export function setUpMemoryView(store: Store, setBudget: (budget: Budget) => void): void {
  const section = byId('memory-section', HTMLElement);
  section.append(make('h2', { id: 'memory-title', text: 'Memory' }));
  setUpBudget(store, setBudget, section);
  setUpReport(store, section);
}

function setUpBudget(store: Store, setBudget: (budget: Budget) => void, section: HTMLElement): void {
  const radios = KINDS.map(({ kind }) =>
    make('input', { id: `budget-${kind}`, type: 'radio', attributes: { name: 'budget', value: kind } }),
  );
  const labels = KINDS.map(({ kind, label }, index) =>
    make(
      'label',
      { attributes: { for: `budget-${kind}` } },
      radios[index] ?? '',
      make('span', { text: label }),
    ),
  );
  const amount = make('input', {
    id: 'budget-amount',
    type: 'number',
    attributes: { min: '1', step: 'any', inputmode: 'decimal' },
  });
  const amountRow = make(
    'div',
    { class: 'row amount' },
    make('label', { text: 'At most', attributes: { for: 'budget-amount' } }),
    amount,
    make('span', { text: 'MB' }),
  );
  const note = make('p', { class: 'note' });
  const group = make(
    'div',
    { class: 'segments', attributes: { role: 'radiogroup', 'aria-label': 'Memory budget' } },
    ...labels,
  );
  section.append(group, amountRow, note);

  const current = (): Budget => store.get().choice.budget;
  for (const [index, radio] of radios.entries()) {
    const kind = KINDS[index]?.kind ?? 'unlimited';
    radio.addEventListener('change', () => setBudget({ ...current(), kind }));
  }
  amount.addEventListener('change', () => {
    const megabytes = amount.valueAsNumber;
    if (megabytes > 0) setBudget({ kind: 'bytes', bytes: Math.round(megabytes * MEGABYTE) });
    else amount.value = String(current().bytes / MEGABYTE);
  });

  store.subscribe((state) => {
    const { budget } = state.choice;
    for (const [index, radio] of radios.entries()) radio.checked = KINDS[index]?.kind === budget.kind;
    amountRow.hidden = budget.kind !== 'bytes';
    if (document.activeElement !== amount) amount.value = String(budget.bytes / MEGABYTE);
    setText(note, NOTES[budget.kind]);
  });
}

const NOTES: Record<Budget['kind'], string> = {
  unlimited: 'The whole model stays in memory if it fits. Fastest.',
  min: 'A few slots only: weights are read from disk block by block, again for every token. Same answers, slower.',
  bytes: 'As much of the model as fits stays in memory; the rest is read from disk block by block.',
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

// SPDX-License-Identifier: MIT
// How answers are picked. Greedy by default; the sampling fields matter only above temperature 0, and say so by being
// disabled until then.

import { byId, make, makeButton, setText } from './dom.js';
import { DEFAULT_SETTINGS } from './state.js';
import type { Settings, Store } from './state.js';

type NumberKey = Exclude<keyof Settings, 'systemPrompt'>;

interface Field {
  key: NumberKey;
  label: string;
  note: string;
  kind: 'range' | 'number';
  min: number;
  max: number;
  step: number;
}

const TEMPERATURE: Field = {
  key: 'temperature',
  label: 'Temperature',
  note: '0: the likeliest word',
  kind: 'range',
  min: 0,
  max: 2,
  step: 0.05,
};
const SAMPLING: readonly Field[] = [
  { key: 'topP', label: 'Top-p', note: '1 keeps all', kind: 'range', min: 0.05, max: 1, step: 0.05 },
  { key: 'minP', label: 'Min-p', note: '0 keeps all', kind: 'range', min: 0, max: 0.5, step: 0.01 },
  { key: 'topK', label: 'Top-k', note: '0 keeps all', kind: 'number', min: 0, max: 1000, step: 1 },
  {
    key: 'seed',
    label: 'Seed',
    note: 'same seed, same answer',
    kind: 'number',
    min: 0,
    max: 4294967295,
    step: 1,
  },
];
const MAX_TOKENS: Field = {
  key: 'maxTokens',
  label: 'Longest answer',
  note: 'in tokens',
  kind: 'number',
  min: 1,
  max: 32768,
  step: 1,
};

export function setUpSettings(store: Store): void {
  const system = make('textarea', {
    id: 'system-prompt',
    attributes: { rows: '2', placeholder: 'You speak like a pirate.' },
  });
  system.addEventListener('input', () => change(store, { systemPrompt: system.value }));
  const sampling = make(
    'fieldset',
    { class: 'plain' },
    make('legend', { class: 'visually-hidden', text: 'Sampling' }),
  );
  sampling.append(...SAMPLING.map((field) => makeField(store, field)));
  const reset = makeButton('Reset', 'link', () => store.update({ settings: { ...DEFAULT_SETTINGS } }));

  const details = make(
    'details',
    { class: 'settings', id: 'settings' },
    make('summary', { text: 'Answer settings' }),
    make(
      'div',
      { class: 'field' },
      make('label', { text: 'System prompt', attributes: { for: 'system-prompt' } }),
      system,
    ),
    makeField(store, TEMPERATURE),
    sampling,
    makeField(store, MAX_TOKENS),
    reset,
  );
  byId('settings-section', HTMLElement).append(details);

  store.subscribe(({ settings }) => {
    sampling.disabled = settings.temperature === 0;
    if (document.activeElement !== system && system.value !== settings.systemPrompt)
      system.value = settings.systemPrompt;
  });
}

function change(store: Store, part: Partial<Settings>): void {
  store.update({ settings: { ...store.get().settings, ...part } });
}

function makeField(store: Store, field: Field): HTMLElement {
  const id = `setting-${field.key}`;
  const input = make('input', {
    id,
    type: field.kind,
    attributes: {
      min: String(field.min),
      max: String(field.max),
      step: String(field.step),
      'aria-describedby': `${id}-note`,
    },
  });
  const output = make('output', { attributes: { for: id } });
  input.addEventListener(field.kind === 'range' ? 'input' : 'change', () => {
    const value = input.valueAsNumber;
    if (Number.isFinite(value)) change(store, { [field.key]: clamp(value, field) });
    else input.value = String(store.get().settings[field.key]);
  });
  store.subscribe(({ settings }) => {
    const value = settings[field.key];
    if (input.valueAsNumber !== value && (field.kind === 'range' || document.activeElement !== input)) {
      input.value = String(value);
    }
    setText(output, field.kind === 'range' ? value.toFixed(2) : '');
  });
  const head = make(
    'div',
    { class: 'field-head' },
    make('label', { text: field.label, attributes: { for: id } }),
    make('span', { class: 'note', id: `${id}-note`, text: field.note }),
    output,
  );
  return make('div', { class: `field ${field.kind}` }, head, input);
}

function clamp(value: number, field: Field): number {
  const inside = Math.min(field.max, Math.max(field.min, value));
  return field.step === 1 ? Math.round(inside) : inside;
}

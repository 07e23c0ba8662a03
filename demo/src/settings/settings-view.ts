// SPDX-License-Identifier: MIT
// The answer settings: a preset, what the model is told first, and every setting of the package in folded groups.

import type { Store } from '../state.js';
import { byId, make, makeButton, setText } from '../ui/dom.js';
import { GROUPS, MAX_TOKENS, SEED, TEMPERATURE } from './fields.js';
import type { Group, NumberField, TextField } from './fields.js';
import { DEFAULT_SETTINGS, PRESETS, presetOf, saveSettings } from './settings.js';
import type { Settings } from './settings.js';

export function setUpSettings(store: Store): void {
  const reset = makeButton('Reset all settings', 'link', () => change(store, DEFAULT_SETTINGS));
  byId('settings-section', HTMLElement).append(
    makeSystemPrompt(store),
    makePresets(store),
    makeNumber(store, TEMPERATURE),
    makeNumber(store, MAX_TOKENS),
    makeNumber(store, SEED),
    makeOverflow(store),
    ...GROUPS.map((group) => makeGroup(store, group)),
    reset,
  );
}

function change(store: Store, part: Partial<Settings>): void {
  const settings = { ...store.get().settings, ...part };
  store.update({ settings });
  saveSettings(settings);
}

function makeSystemPrompt(store: Store): HTMLElement {
  const system = make('textarea', {
    id: 'system-prompt',
    attributes: {
      rows: '3',
      placeholder: 'You are a patient teacher.',
      'aria-describedby': 'system-prompt-note',
    },
  });
  system.addEventListener('input', () => {
    store.update({ conversation: { ...store.get().conversation, systemPrompt: system.value } });
  });
  store.subscribe(({ conversation: { systemPrompt } }) => {
    if (document.activeElement !== system && system.value !== systemPrompt) system.value = systemPrompt;
  });
  const note = 'What the model is told before this conversation. It applies from the next message on.';
  return make(
    'div',
    { class: 'field' },
    make('label', { text: 'System prompt', attributes: { for: 'system-prompt' } }),
    system,
    make('p', { class: 'note', id: 'system-prompt-note', text: note }),
  );
}

function makePresets(store: Store): HTMLElement {
  const note = make('p', { class: 'note' });
  const radios = PRESETS.map((preset) => {
    const radio = make('input', { id: `preset-${preset.id}`, type: 'radio', attributes: { name: 'preset' } });
    radio.addEventListener('change', () => change(store, preset.settings));
    return radio;
  });
  const labels = PRESETS.map(({ id, label }, index) =>
    make(
      'label',
      { attributes: { for: `preset-${id}` } },
      radios[index] ?? '',
      make('span', { text: label }),
    ),
  );
  store.subscribe(({ settings }) => {
    const preset = presetOf(settings);
    for (const [index, radio] of radios.entries()) radio.checked = PRESETS[index] === preset;
    setText(note, preset?.note ?? 'Your own mix.');
  });
  const attributes = { role: 'radiogroup', 'aria-label': 'How answers are picked' };
  return make('div', { class: 'field' }, make('div', { class: 'segments', attributes }, ...labels), note);
}

function makeOverflow(store: Store): HTMLElement {
  const box = make('input', { id: 'setting-overflow', type: 'checkbox' });
  box.addEventListener('change', () => change(store, { contextOverflow: box.checked ? 'shift' : 'stop' }));
  store.subscribe(({ settings }) => {
    box.checked = settings.contextOverflow === 'shift';
  });
  const text = 'When the context is full, forget the oldest part and go on';
  return make(
    'label',
    { class: 'check', attributes: { for: 'setting-overflow' } },
    box,
    make('span', { text }),
  );
}

function makeGroup(store: Store, { title, fields, texts = [] }: Group): HTMLElement {
  return make(
    'details',
    { class: 'group' },
    make('summary', { text: title }),
    ...fields.map((field) => makeNumber(store, field)),
    ...texts.map((field) => makeText(store, field)),
  );
}

function makeHead(id: string, label: string, note: string): HTMLElement {
  return make(
    'div',
    { class: 'field-head' },
    make('label', { text: label, attributes: { for: id } }),
    make('span', { class: 'note', id: `${id}-note`, text: note }),
  );
}

function makeNumber(store: Store, field: NumberField): HTMLElement {
  const id = `setting-${field.key}`;
  const [min, max, step] = [field.min, field.max, field.step].map(String);
  const input = make('input', {
    id,
    type: field.kind,
    attributes: { min: min ?? '', max: max ?? '', step: step ?? '', 'aria-describedby': `${id}-note` },
  });
  const output = make('output', { attributes: { for: id } });
  const show = (value: number | null): void => {
    input.value = value === null ? '' : String(value);
  };
  input.addEventListener(field.kind === 'range' ? 'input' : 'change', () => {
    const value = input.valueAsNumber;
    if (Number.isFinite(value)) change(store, { [field.key]: clamp(value, field) });
    else if (field.key === 'seed' && input.value === '') change(store, { seed: null });
    show(store.get().settings[field.key]);
  });
  store.subscribe(({ settings }) => {
    const value = settings[field.key];
    if (document.activeElement !== input) show(value);
    setText(output, field.kind === 'range' && value !== null ? value.toFixed(2) : '');
  });
  const head = makeHead(id, field.label, field.note);
  head.append(output);
  return make('div', { class: `field ${field.kind}` }, head, input);
}

function makeText(store: Store, field: TextField): HTMLElement {
  const id = `setting-${field.key}`;
  const attributes = {
    rows: '2',
    placeholder: field.placeholder,
    spellcheck: 'false',
    'aria-describedby': `${id}-note ${id}-problem`,
  };
  const area = make('textarea', { id, attributes });
  const problem = make('p', { class: 'field-problem', id: `${id}-problem` });
  area.addEventListener('change', () => {
    try {
      field.parse(area.value);
      setText(problem, '');
      change(store, { [field.key]: area.value });
    } catch (error) {
      setText(problem, error instanceof Error ? error.message : '');
    }
    area.setAttribute('aria-invalid', String(problem.textContent !== ''));
  });
  store.subscribe(({ settings }) => {
    if (document.activeElement !== area && problem.textContent === '') area.value = settings[field.key];
  });
  return make('div', { class: 'field text' }, makeHead(id, field.label, field.note), area, problem);
}

function clamp(value: number, field: NumberField): number {
  const inside = Math.min(field.max, Math.max(field.min, value));
  return Number.isInteger(field.step) ? Math.round(inside / field.step) * field.step : inside;
}

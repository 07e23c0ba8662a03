// SPDX-License-Identifier: MIT
// Choosing a model: the built-in one, those stored on this device, an address, a file by button or by dropping it.

import type { ModelInfo, StoredModel } from 'layerstream';
import { DEFAULT_MODEL, isDefaultModel } from './default-model.js';
import { byId, make, makeButton } from '../ui/dom.js';
import { pageProblem } from '../ui/errors.js';
import { formatBytes, plural } from '../ui/format.js';
import type { Source, State, Store } from '../state.js';

export interface ModelActions {
  choose(source: Source): void;
  remove(url: string): void;
}

interface Row {
  source: Source;
  label: string;
  facts: string;
  isOpen: boolean;
  /** Key in the store, for models that can be deleted. */
  removable?: string;
}

export function setUpModelsView(store: Store, actions: ModelActions): void {
  const list = make('ul', { class: 'model-list', attributes: { 'aria-label': 'Models' } });
  byId('models-page', HTMLElement).append(list, makeUrlForm(store, actions), makeFilePicker(actions));
  setUpDrop(actions);

  let shown: Pick<State, 'model' | 'choice' | 'stored'> | null = null;
  store.subscribe((state) => {
    if (
      shown &&
      shown.choice === state.choice &&
      shown.stored === state.stored &&
      shown.model.kind === state.model.kind
    ) {
      return;
    }
    shown = state;
    list.replaceChildren(...rowsOf(state).map((row) => makeRow(row, actions)));
  });
}

/** The built-in model, what is stored on this device, and what is open if it is neither. */
function rowsOf(state: Readonly<State>): Row[] {
  const rows: Row[] = [
    {
      source: DEFAULT_MODEL.source,
      label: DEFAULT_MODEL.pickerLabel,
      facts: 'comes with this page',
      isOpen: false,
    },
  ];
  for (const stored of state.stored) {
    const source: Source = { kind: 'url', url: stored.url, label: labelOfUrl(stored.url) };
    if (!isDefaultModel(source)) {
      rows.push({
        source,
        label: source.label,
        facts: storedFacts(stored),
        isOpen: false,
        removable: stored.url,
      });
    }
  }
  if (state.model.kind === 'none') return rows;
  let open = rows.find((row) => isSame(row.source, state.choice.source));
  if (!open) {
    open = { source: state.choice.source, label: state.choice.source.label, facts: '', isOpen: false };
    rows.push(open);
  }
  open.isOpen = true;
  open.facts = state.model.kind === 'ready' ? openFacts(state.model.info) : 'loading';
  return rows;
}

function isSame(a: Source, b: Source): boolean {
  return a.kind === 'url' ? b.kind === 'url' && a.url === b.url : b.kind === 'file' && a.files === b.files;
}

function storedFacts(stored: StoredModel): string {
  return stored.complete ? `${formatBytes(stored.bytes)}, on this device` : 'download not finished';
}

function openFacts(info: ModelInfo): string {
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
  return [formatBytes(info.fileBytes), ...shape, where].join(' · ');
}

function makeRow({ source, label, facts, isOpen, removable }: Row, actions: ModelActions): HTMLLIElement {
  const button = make(
    'button',
    { type: 'button', class: 'model-row', attributes: { 'aria-pressed': String(isOpen) } },
    make('span', { class: 'model-row-name', text: label }),
    make('span', { class: 'model-row-facts', text: facts }),
  );
  button.addEventListener('click', () => {
    if (!isOpen) actions.choose(source);
  });
  const item = make('li', {}, button);
  if (removable !== undefined && !isOpen) {
    const remove = makeButton('Delete', 'link', () => actions.remove(removable));
    remove.setAttribute('aria-label', `Delete ${label} from this device`);
    item.append(remove);
  }
  return item;
}

function makeUrlForm(store: Store, actions: ModelActions): HTMLFormElement {
  const field = make('input', {
    id: 'model-url',
    type: 'url',
    attributes: {
      placeholder: 'https://…/model.gguf',
      autocomplete: 'off',
      spellcheck: 'false',
      inputmode: 'url',
    },
  });
  const form = make(
    'form',
    { class: 'url-form', id: 'url-form', attributes: { novalidate: '' } },
    make('label', { text: 'From a web address', attributes: { for: 'model-url' } }),
    make('div', { class: 'row' }, field, make('button', { type: 'submit', class: 'small', text: 'Load' })),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const source = sourceOfUrl(field.value.trim());
    if (source) actions.choose(source);
    else store.update({ banner: pageProblem('bad_url', field.value) });
  });
  return form;
}

/** An absolute http(s) address, or one relative to this page that looks like a path; otherwise null. */
function sourceOfUrl(text: string): Source | null {
  if (text === '' || /\s/.test(text)) return null;
  try {
    const url = /^(https?:|\.{0,2}\/)/i.test(text)
      ? new URL(text, document.baseURI)
      : new URL(`https://${text}`);
    return { kind: 'url', url: url.href, label: labelOfUrl(url.href) };
  } catch {
    return null;
  }
}

function labelOfUrl(url: string): string {
  const path = new URL(url, document.baseURI).pathname;
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.gguf$/i, '');
  try {
    return decodeURIComponent(name) || url;
  } catch {
    return name;
  }
}

/** Several files are the parts of a split model, and are named so that their order is the alphabet's. */
function chooseFiles(list: FileList | undefined | null, actions: ModelActions): void {
  const files = [...(list ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  const [first] = files;
  if (first)
    actions.choose({ kind: 'file', files, label: first.name.replace(/(-00001-of-\d{5})?\.gguf$/i, '') });
}

function makeFilePicker(actions: ModelActions): HTMLElement {
  const input = make('input', {
    id: 'model-file',
    type: 'file',
    class: 'visually-hidden',
    attributes: { accept: '.gguf', multiple: '', tabindex: '-1', 'aria-label': 'Model file' },
  });
  input.addEventListener('change', () => {
    chooseFiles(input.files, actions);
    input.value = '';
  });
  const button = makeButton('Open a .gguf file…', 'small wide', () => input.click());
  const note = 'Or drop it anywhere on this page. It is read in place: not copied, not sent.';
  return make('div', { class: 'file-picker' }, input, button, make('p', { class: 'note', text: note }));
}

function setUpDrop(actions: ModelActions): void {
  const hint = byId('drop-hint', HTMLElement);
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  const show = (on: boolean): void => {
    hint.dataset['on'] = String(on);
  };
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(true);
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) show(false);
  });
  document.addEventListener('drop', (event) => {
    show(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    chooseFiles(event.dataTransfer?.files, actions);
  });
}

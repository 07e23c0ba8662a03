// SPDX-License-Identifier: MIT
// Adding a model of one's own: an address, a repository whose files are then listed, a file by button or by dropping it.

import type { Store } from '../state.js';
import { byId, make, makeButton } from '../ui/dom.js';
import { pageProblem } from '../ui/errors.js';
import { formatBytes } from '../ui/format.js';
import { problemCard } from '../ui/problem-card.js';
import { fileAddress, labelOfUrl, readAddress } from './addresses.js';
import { listFiles } from './hugging-face.js';
import type { RepositoryFile } from './hugging-face.js';
import type { ModelActions } from './models-view.js';
import { makePlanView } from './plan-view.js';

export function makeAddView(store: Store, actions: ModelActions): HTMLElement {
  setUpDrop(actions);
  return make('div', {}, makeAddressForm(store, actions), makeFilePicker(actions));
}

function makeAddressForm(store: Store, actions: ModelActions): HTMLElement {
  const attributes = {
    placeholder: 'owner/repository or https://…/model.gguf',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    inputmode: 'url',
  };
  const field = make('input', { id: 'model-url', type: 'text', attributes });
  const found = make('div', { class: 'found', attributes: { 'aria-live': 'polite' } });
  const label = make('label', {
    text: 'From Hugging Face, or any web address',
    attributes: { for: 'model-url' },
  });
  const button = make('button', { type: 'submit', class: 'small', text: 'Add' });
  const form = make('form', { class: 'url-form', id: 'url-form' }, label);
  form.append(make('div', { class: 'row' }, field, button));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.replaceChildren();
    const address = readAddress(field.value.trim());
    if (!address) {
      found.replaceChildren(problemCard(pageProblem('bad_url', field.value)));
    } else if (address.kind === 'source') {
      store.update({ banner: null });
      actions.choose(address.source);
    } else {
      void showFiles(address.repository, found, actions);
    }
  });
  return make('div', {}, form, found);
}

async function showFiles(repository: string, found: HTMLElement, actions: ModelActions): Promise<void> {
  found.replaceChildren(
    make('p', { class: 'note', text: `Asking Hugging Face for the files of ${repository}…` }),
  );
  const files = await listFiles(repository);
  if (!Array.isArray(files)) return found.replaceChildren(problemCard(files));
  const list = make('ul', { class: 'model-list', attributes: { 'aria-label': `Files of ${repository}` } });
  list.append(...files.map((file) => makeFileRow(repository, file, actions)));
  found.replaceChildren(make('p', { class: 'note', text: `Models in ${repository}:` }), list);
}

function makeFileRow(repository: string, file: RepositoryFile, actions: ModelActions): HTMLLIElement {
  const url = fileAddress(repository, file.path);
  const size = file.bytes > 0 ? formatBytes(file.bytes) : '';
  const words = make(
    'span',
    { class: 'model-row-words' },
    make('span', { class: 'model-row-name', text: file.path }),
    make('span', { class: 'model-row-facts', text: size }),
  );
  const button = make('button', { type: 'button', class: 'model-row' }, words);
  button.addEventListener('click', () => actions.choose({ kind: 'url', url, label: labelOfUrl(url) }));
  return make('li', { class: 'file' }, button, makePlanView(url, file.path));
}

/** Several files are the parts of a split model, and are named so that their order is the alphabet's. */
function chooseFiles(list: FileList | undefined | null, actions: ModelActions): void {
  const files = [...(list ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  const [first] = files;
  if (!first) return;
  actions.choose({ kind: 'file', files, label: first.name.replace(/(-00001-of-\d{5})?\.gguf$/i, '') });
}

function makeFilePicker(actions: ModelActions): HTMLElement {
  const attributes = { accept: '.gguf', multiple: '', tabindex: '-1', 'aria-label': 'Model file' };
  const input = make('input', { id: 'model-file', type: 'file', class: 'visually-hidden', attributes });
  input.addEventListener('change', () => {
    chooseFiles(input.files, actions);
    input.value = '';
  });
  const button = makeButton('Open a .gguf file…', 'small', () => input.click());
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

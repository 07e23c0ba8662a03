// SPDX-License-Identifier: MIT
// Adding a model of one's own: an address, a repository whose files are then listed, a file by button or by dropping it,
// to be run in place or copied into the store.

import type { Store } from '../state.js';
import { byId, make, makeButton } from '../ui/dom.js';
import { problemFor } from '../ui/errors.js';
import { formatBytes } from '../ui/format.js';
import { problemCard } from '../ui/problem-card.js';
import { fileAddress, labelOfUrl, readAddress } from './addresses.js';
import { listFiles } from './hugging-face.js';
import type { RepositoryFile } from './hugging-face.js';
import type { JobSlots } from './job-view.js';
import { COPY_KEY } from './jobs.js';
import type { ModelActions } from './models-view.js';
import { makePlanView } from './plan-view.js';

export function makeAddView(store: Store, actions: ModelActions, jobs: JobSlots): HTMLElement {
  setUpDrop(actions);
  return make('div', {}, makeAddressForm(store, actions), makeFilePickers(actions), jobs.of(COPY_KEY));
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
      found.replaceChildren(problemCard(problemFor('bad_url', field.value)));
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
function inOrder(list: FileList | undefined | null): File[] {
  return [...(list ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function runInPlace(files: readonly File[], actions: ModelActions): void {
  const [first] = files;
  if (!first) return;
  actions.choose({ kind: 'file', files, label: first.name.replace(/(-00001-of-\d{5})?\.gguf$/i, '') });
}

function copyIn(files: readonly File[], actions: ModelActions): void {
  if (files.length > 0) actions.copy(files);
}

function makeFilePickers(actions: ModelActions): HTMLElement {
  const note =
    'Opened in place, a file is neither copied nor sent, and is forgotten with the tab. Copied in, it is here the next time. You can also drop it anywhere on this page.';
  return make(
    'div',
    { class: 'file-picker' },
    ...makeFilePicker('model-file', 'Open a .gguf file…', (files) => runInPlace(files, actions)),
    ...makeFilePicker('copy-file', 'Copy one in…', (files) => copyIn(files, actions)),
    make('p', { class: 'note', text: note }),
  );
}

function makeFilePicker(id: string, label: string, use: (files: File[]) => void): HTMLElement[] {
  const attributes = { accept: '.gguf', multiple: '', tabindex: '-1', 'aria-label': label };
  const input = make('input', { id, type: 'file', class: 'visually-hidden', attributes });
  input.addEventListener('change', () => {
    use(inOrder(input.files));
    input.value = '';
  });
  return [input, makeButton(label, 'small', () => input.click())];
}

/** Two fields over the page while a file is dragged: to run it in place, and to copy it in. */
function setUpDrop(actions: ModelActions): void {
  const fields = byId('drop-fields', HTMLElement);
  const copyField = byId('drop-copy', HTMLElement);
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  const isOverCopy = ({ target }: DragEvent): boolean => target instanceof Node && copyField.contains(target);
  const show = (on: boolean, overCopy = false): void => {
    fields.dataset['on'] = String(on);
    fields.dataset['over'] = overCopy ? 'copy' : 'open';
  };
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(true, isOverCopy(event));
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) show(false);
  });
  document.addEventListener('drop', (event) => {
    show(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    const files = inOrder(event.dataTransfer?.files);
    if (isOverCopy(event)) copyIn(files, actions);
    else runInPlace(files, actions);
  });
}

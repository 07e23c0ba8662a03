// SPDX-License-Identifier: MIT
// The list of conversations by age, each with a menu, and what carries all of them in and out.

import type { ConversationHead, State, Store } from '../state.js';
import { byId, make, makeIconButton, setText } from '../ui/dom.js';
import { plural } from '../ui/format.js';
import { openMenu } from '../ui/menu.js';
import { showToast } from '../ui/toast.js';
import type { Library } from './library.js';

export function setUpConversationList(store: Store, library: Library, afterOpening: () => void): void {
  const list = byId('conversations', HTMLElement);
  let shown: Pick<State, 'conversations' | 'conversation'> | null = null;
  store.subscribe((state) => {
    const isSame =
      shown?.conversations === state.conversations && shown.conversation.id === state.conversation.id;
    // A title that is being typed is not taken away by a save in the background.
    if (isSame || list.querySelector('input')) return;
    shown = state;
    const groups = groupByAge(state.conversations, Date.now());
    const sections = groups.map(({ label, heads }) => {
      const items = heads.map((head) =>
        makeItem(head, state.conversation.id === head.id, store, library, afterOpening),
      );
      return [make('h2', { text: label }), make('ul', { attributes: { 'aria-label': label } }, ...items)];
    });
    list.replaceChildren(...sections.flat());
  });
  setUpTransfer(store, library);
}

const DAY_MS = 86_400_000;

function groupByAge(
  heads: readonly ConversationHead[],
  now: number,
): { label: string; heads: ConversationHead[] }[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const groups = [
    { label: 'Today', since: today, heads: [] as ConversationHead[] },
    { label: 'Last 7 days', since: today - 6 * DAY_MS, heads: [] as ConversationHead[] },
    { label: 'Earlier', since: -Infinity, heads: [] as ConversationHead[] },
  ];
  for (const head of heads) groups.find(({ since }) => head.updatedAt >= since)?.heads.push(head);
  return groups.filter((group) => group.heads.length > 0);
}

function makeItem(
  head: ConversationHead,
  isOpen: boolean,
  store: Store,
  library: Library,
  afterOpening: () => void,
): HTMLLIElement {
  const title = head.title || 'Untitled chat';
  const button = make('button', { type: 'button', class: 'conversation', text: title, title });
  if (isOpen) button.setAttribute('aria-current', 'page');
  button.addEventListener('click', () => {
    void library.open(head.id);
    afterOpening();
  });
  const item = make('li', {}, button);
  const more = makeIconButton('dots', `Options for ${title}`, () => {
    openMenu(more, `Options for ${title}`, [
      { label: 'Rename', icon: 'pencil', run: () => editTitle(item, head, store, library) },
      { label: 'Export', icon: 'download', run: () => void library.exportOne(head.id) },
      { label: 'Delete', icon: 'trash', run: () => void remove(head.id, library) },
    ]);
  });
  more.setAttribute('aria-haspopup', 'menu');
  more.setAttribute('aria-expanded', 'false');
  item.append(more);
  return item;
}

function editTitle(item: HTMLElement, head: ConversationHead, store: Store, library: Library): void {
  const attributes = { 'aria-label': 'Title', maxlength: '120' };
  const field = make('input', { type: 'text', class: 'title-field', attributes });
  field.value = head.title;
  const before = [...item.childNodes];
  let isOver = false;
  const end = (keep: boolean): void => {
    if (isOver) return;
    isOver = true;
    item.replaceChildren(...before);
    item.querySelector('button')?.focus();
    const title = field.value.trim();
    if (keep && title !== '' && title !== head.title) void library.rename(head.id, title);
    else store.update({}); // shows what was saved in the meantime
  };
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    event.stopPropagation();
    end(event.key === 'Enter');
  });
  field.addEventListener('blur', () => end(true));
  item.replaceChildren(field);
  field.select();
}

async function remove(id: string, library: Library): Promise<void> {
  const undo = await library.remove(id);
  showToast('Chat deleted.', { label: 'Undo', run: () => void undo() });
}

function setUpTransfer(store: Store, library: Library): void {
  const picker = byId('import-file', HTMLInputElement);
  picker.addEventListener('change', () => {
    const file = picker.files?.[0];
    picker.value = '';
    if (file) void importFile(file, library);
  });
  byId('import', HTMLButtonElement).addEventListener('click', () => picker.click());
  const exportAll = byId('export', HTMLButtonElement);
  exportAll.addEventListener('click', () => void library.exportAll());
  const none = byId('no-conversations', HTMLElement);
  store.subscribe(({ conversations }) => {
    exportAll.disabled = conversations.length === 0;
    none.hidden = conversations.length > 0;
    setText(none, 'Chats you start appear here. They stay on this device.');
  });
}

async function importFile(file: File, library: Library): Promise<void> {
  const count = await library.import(file);
  if (count === null)
    showToast('This is not an export of this page. Choose a .json file that was exported here.');
  else if (count === 0) showToast('Nothing new in this file: its chats are here already.');
  else showToast(`${plural(count, 'chat')} imported.`);
}

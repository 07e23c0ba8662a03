// SPDX-License-Identifier: MIT
// The conversations of this browser: saves the open one as it grows, opens, names, deletes and carries them in and out.
// The address names the open one (#chat=id), so that reloading and the back button keep their place. Without IndexedDB
// (some private windows) the page works for as long as it is open.

import { isAnswering, newConversation } from '../state.js';
import type { Conversation, ConversationHead, State, Store } from '../state.js';
import { isRunning, makeTurn, titleOf } from '../chat/turns.js';
import type { Turn } from '../chat/turns.js';
import { openDatabase } from './database.js';
import type { Database, StoredConversation, StoredTurn } from './database.js';
import { exportText, readExport, saveFile } from './transfer.js';

const SAVE_AFTER_MS = 400;

export class Library {
  readonly #store: Store;
  readonly #stopAnswer: () => void;
  readonly #database: Promise<Database | null>;
  readonly #otherTabs = new BroadcastChannel('layerstream-conversations');
  #timer: ReturnType<typeof setTimeout> | null = null;
  #saved: Pick<State, 'conversation' | 'turns'>;

  constructor(store: Store, stopAnswer: () => void) {
    this.#store = store;
    this.#stopAnswer = stopAnswer;
    this.#saved = store.get();
    this.#database = openDatabase().catch(() => null);
    this.#otherTabs.addEventListener('message', () => void this.#refresh());
    window.addEventListener('hashchange', () => void this.#openAddress());
    window.addEventListener('pagehide', () => void this.#save());
    store.subscribe((state) => this.#saveSoon(state));
  }

  async start(): Promise<void> {
    await this.#refresh();
    await this.#openAddress();
  }

  /** A new chat. It is stored, and listed, when the first message is sent. */
  create(): void {
    this.#show(newConversation(), []);
    history.pushState(null, '', location.pathname + location.search);
  }

  async open(id: string): Promise<void> {
    const stored = await (await this.#database)?.get('conversations', id);
    if (!stored) return;
    this.#show(conversationOf(stored), stored.turns.map(shownTurn));
    if (location.hash !== addressOf(id)) history.pushState(null, '', addressOf(id));
  }

  async rename(id: string, title: string): Promise<void> {
    const { conversation } = this.#store.get();
    if (id === conversation.id) {
      this.#store.update({ conversation: { ...conversation, title, named: true } });
      return;
    }
    const stored = await (await this.#database)?.get('conversations', id);
    if (stored) await this.#put({ ...stored, title, named: true });
  }

  /** Resolves to a function that brings it back. */
  async remove(id: string): Promise<() => Promise<void>> {
    const database = await this.#database;
    const isOpen = id === this.#store.get().conversation.id;
    if (isOpen) {
      this.#stopAnswer();
      await this.#save();
    }
    const stored = await database?.get('conversations', id);
    if (isOpen) this.create();
    await database?.delete('conversations', id);
    await this.#changed();
    return async () => {
      if (stored) await this.#put(stored);
      if (isOpen) await this.open(id);
    };
  }

  async exportOne(id: string): Promise<void> {
    await this.#save();
    const stored = await (await this.#database)?.get('conversations', id);
    if (stored) saveFile(`${fileNameOf(stored.title)}.json`, exportText([stored]));
  }

  async exportAll(): Promise<void> {
    await this.#save();
    const all = (await (await this.#database)?.getAll('conversations')) ?? [];
    saveFile(`layerstream-chats-${new Date().toISOString().slice(0, 10)}.json`, exportText(all));
  }

  /** How many came in; null if the file is not an export. Of two versions of a conversation the later one stays. */
  async import(file: File): Promise<number | null> {
    const conversations = readExport(await file.text());
    if (conversations === null) return null;
    const database = await this.#database;
    let count = 0;
    for (const conversation of conversations) {
      const here = await database?.get('conversations', conversation.id);
      if (here && here.updatedAt >= conversation.updatedAt) continue;
      await database?.put('conversations', conversation);
      count += 1;
    }
    await this.#changed();
    return count;
  }

  #show(conversation: Conversation, turns: readonly Turn[]): void {
    this.#stopAnswer();
    void this.#save();
    this.#saved = { conversation, turns };
    this.#store.update({ conversation, turns, banner: null });
  }

  async #openAddress(): Promise<void> {
    const id = /^#chat=([0-9a-f]+)$/.exec(location.hash)?.[1];
    if (id === undefined || id === this.#store.get().conversation.id) return;
    await this.open(id);
  }

  #saveSoon(state: Readonly<State>): void {
    if (state.turns.length === 0) return;
    if (state.turns === this.#saved.turns && state.conversation === this.#saved.conversation) return;
    if (!isAnswering(state)) void this.#save();
    else this.#timer ??= setTimeout(() => void this.#save(), SAVE_AFTER_MS);
  }

  async #save(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const { conversation, turns } = this.#store.get();
    if (turns.length === 0) return;
    if (turns === this.#saved.turns && conversation === this.#saved.conversation) return;
    this.#saved = { conversation, turns };
    if (location.hash !== addressOf(conversation.id))
      history.replaceState(null, '', addressOf(conversation.id));
    const title = conversation.named ? conversation.title : titleOf(turns);
    await this.#put({ ...conversation, title, updatedAt: Date.now(), turns: turns.map(storedTurn) });
  }

  async #put(conversation: StoredConversation): Promise<void> {
    await (await this.#database)?.put('conversations', conversation);
    await this.#changed();
  }

  async #changed(): Promise<void> {
    this.#otherTabs.postMessage('changed');
    await this.#refresh();
  }

  async #refresh(): Promise<void> {
    const all = (await (await this.#database)?.getAll('conversations')) ?? [];
    const heads: ConversationHead[] = all.map(({ id, title, updatedAt }) => ({ id, title, updatedAt }));
    this.#store.update({ conversations: heads.sort((a, b) => b.updatedAt - a.updatedAt) });
  }
}

const addressOf = (id: string): string => `#chat=${id}`;

function conversationOf({ id, title, named, systemPrompt, createdAt }: StoredConversation): Conversation {
  return { id, title, named, systemPrompt, createdAt };
}

function shownTurn({ role, text, finish, stats }: StoredTurn): Turn {
  const turn = makeTurn(role, text, 'done');
  if (finish !== undefined) turn.finish = finish;
  if (stats) turn.stats = stats;
  return turn;
}

/** An answer that is still being written is stored as stopped: what is there when the tab closes is what remains. */
function storedTurn(turn: Turn): StoredTurn {
  const stored: StoredTurn = { role: turn.role, text: turn.text };
  const finish = isRunning(turn) ? 'abort' : turn.finish;
  if (finish !== undefined) stored.finish = finish;
  if (turn.stats) stored.stats = turn.stats;
  return stored;
}

function fileNameOf(title: string): string {
  const name = title.normalize('NFKD').replace(/[^\w]+/g, '-');
  return name.replace(/^-+|-+$/g, '').toLowerCase() || 'chat';
}

// SPDX-License-Identifier: MIT
// The chat page as a person uses it: open it, wait until it is ready, ask, read the answer.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JSHandle, Page } from 'playwright-core';
import { MODELS, MODEL_FILE } from './repository.js';

interface RecordedChat {
  messages: { role: string; content: string }[];
  replies: Record<string, { ids: number[]; text: string }>;
}

const recorded = JSON.parse(
  readFileSync(path.join(MODELS, 'tinychat', 'chats.json'), 'utf8'),
) as RecordedChat[];

/** What the default model answers to this single message, greedily (recorded from llama.cpp). */
export function expectedAnswer(prompt: string): string {
  const chat = recorded.find(({ messages }) => messages.length === 1 && messages[0]?.content === prompt);
  const reply = chat?.replies[MODEL_FILE];
  if (!reply) throw new Error(`chats.json has no chat that is only: ${prompt}`);
  return reply.text;
}

/** Recorded chats that begin with a system message. */
export function recordedSystemChats(): { system: string; prompt: string; answer: string }[] {
  return recorded.flatMap(({ messages: [system, prompt], replies }) =>
    system?.role === 'system' && prompt
      ? [{ system: system.content, prompt: prompt.content, answer: replies[MODEL_FILE]?.text ?? '' }]
      : [],
  );
}

export class ChatPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(url: string): Promise<void> {
    await this.page.goto(url);
  }

  /** Resolves when a model is open and nothing runs; rejects at once, with its words, when a problem is shown. */
  async ready({ despiteBanner = false } = {}): Promise<void> {
    const outcome = await this.page.waitForFunction((ignoreBanner) => {
      if (document.getElementById('pass')?.dataset['phase'] === 'ready') return 'ready';
      const banner = document.querySelector('#banner .problem');
      return banner && !ignoreBanner ? (banner.textContent ?? 'problem') : false;
    }, despiteBanner);
    const words = await outcome.jsonValue();
    if (words !== 'ready') throw new Error(`the page shows: ${String(words)}`);
  }

  /** Resolves when the page is kept on this device: from here on nothing asks for parts of it. */
  async offlineReady(): Promise<void> {
    await this.page.waitForSelector('html[data-offline="ready"]');
  }

  /** The page draws at most once a frame: what is read before that is the state before the click. */
  async nextFrame(): Promise<void> {
    await this.page.evaluate(
      () =>
        new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
    );
  }

  async send(prompt: string): Promise<void> {
    await this.page.fill('#message', prompt);
    await this.page.press('#message', 'Enter');
    await this.nextFrame();
  }

  /** The last answer, once it has ended. Rejects when it failed. */
  async answer(): Promise<string> {
    const turn = await this.page.waitForSelector('#log > li.assistant:last-child[aria-busy="false"]');
    if ((await turn.getAttribute('data-status')) === 'failed') {
      throw new Error(`the answer failed: ${(await turn.textContent()) ?? ''}`);
    }
    return (await this.page.textContent('#log > li.assistant:last-child .body')) ?? '';
  }

  async ask(prompt: string): Promise<string> {
    await this.send(prompt);
    return this.answer();
  }

  async newChat(): Promise<void> {
    await this.openSidebar();
    await this.page.click('#new-chat');
    await this.page.waitForSelector('#welcome', { state: 'visible' });
  }

  /** Clicks Stop in the page itself as soon as the running answer has `characters`, so that no answer is too quick. */
  async stopAfter(characters: number): Promise<void> {
    await this.page.evaluate(
      (wanted) =>
        new Promise<void>((resolve) => {
          const look = (): void => {
            const text = document.querySelector('#log > li.assistant:last-child .body')?.textContent ?? '';
            if (text.length < wanted) return;
            observer.disconnect();
            document.getElementById('stop')?.click();
            resolve();
          };
          const observer = new MutationObserver(look);
          observer.observe(document.getElementById('log') ?? document.body, {
            subtree: true,
            childList: true,
            characterData: true,
          });
          look();
        }),
      characters,
    );
  }

  async chooseFile(name: string, bytes: Uint8Array): Promise<void> {
    await this.page.setInputFiles('#model-file', {
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(bytes),
    });
    await this.nextFrame();
  }

  /** On a phone the list of conversations is a drawer. */
  async openSidebar(): Promise<void> {
    if ((await this.page.getAttribute('#sidebar', 'data-open')) === 'false')
      await this.page.click('#sidebar-open');
  }

  /** Only where they are drawers, over the chat. */
  async closeDrawers(): Promise<void> {
    for (const side of ['sidebar', 'panel']) {
      const isOpen = (await this.page.getAttribute(`#${side}`, 'data-open')) === 'true';
      const isDrawer =
        (await this.page.locator(`#${side}`).evaluate((it) => getComputedStyle(it).position)) === 'fixed';
      if (isOpen && isDrawer) await this.page.locator(`#${side}`).press('Escape');
    }
    await this.nextFrame();
  }

  /** Brings in a conversation with this answer, whatever it contains, and opens it. */
  async importChat(question: string, answer: string): Promise<void> {
    const turns = [
      { role: 'user', text: question },
      { role: 'assistant', text: answer },
    ];
    const chat = { id: 'c0ffee', title: question, named: true, updatedAt: Date.now(), turns };
    const file = { format: 'layerstream-conversations', version: 1, conversations: [chat] };
    await this.page.setInputFiles('#import-file', {
      name: 'chats.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(file)),
    });
    await this.page.waitForSelector('.conversation', { state: 'attached' });
    await this.openSidebar();
    await this.page.click('.conversation >> nth=0');
    await this.page.waitForSelector('#log > li.assistant');
  }

  async openModels(): Promise<void> {
    if (await this.page.isHidden('#models-page')) await this.page.click('#models-open');
  }

  async openSettings(): Promise<void> {
    if (await this.page.isHidden('#settings-panel')) await this.page.click('#settings-open');
  }

  async openActivity(): Promise<void> {
    if (await this.page.isHidden('#activity-panel')) await this.page.click('#activity-open');
  }

  async chooseUrl(url: string): Promise<void> {
    await this.openModels();
    await this.page.fill('#model-url', url);
    await this.page.click('#url-form button');
    await this.nextFrame();
  }

  async copyIn(name: string, bytes: Uint8Array): Promise<void> {
    await this.page.setInputFiles('#copy-file', {
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(bytes),
    });
    await this.nextFrame();
  }

  /** Drags a file over the page, so that the two fields to drop it on appear. */
  async dragFile(name: string, bytes: Uint8Array): Promise<JSHandle<DataTransfer>> {
    const transfer = await this.page.evaluateHandle(
      ([fileName, content]) => {
        const dataTransfer = new DataTransfer();
        const data = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
        dataTransfer.items.add(new File([data], fileName));
        return dataTransfer;
      },
      [name, Buffer.from(bytes).toString('base64')] as const,
    );
    await this.page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
    await this.page.waitForSelector('#drop-fields', { state: 'visible' });
    return transfer;
  }

  async dropFile(name: string, bytes: Uint8Array, field: '#drop-open' | '#drop-copy'): Promise<void> {
    const transfer = await this.dragFile(name, bytes);
    await this.page.dispatchEvent(field, 'drop', { dataTransfer: transfer });
    await this.nextFrame();
  }

  /** Chooses from the menu of a stored model. */
  async modelOption(model: string, option: string): Promise<void> {
    await this.openModels();
    await this.page.click(`button[aria-label="Options for ${model}"]`);
    await this.page.click(`[role="menuitem"]:has-text("${option}")`);
    await this.nextFrame();
  }

  /** What the job on a stored model found, once it has ended. */
  async jobWords(): Promise<string> {
    const words = await this.page.waitForSelector('.job:not(:has(progress)) .job-words');
    return (await words.textContent()) ?? '';
  }

  /** Changes one byte of a model in the browser's file system, as a failing disk would. */
  async damageStored(url: string, offset: number): Promise<void> {
    await this.page.evaluate(
      async ([key, at]) => {
        const url = new URL(key, document.baseURI).href;
        const root = await navigator.storage.getDirectory();
        const models = async function* (
          folder: FileSystemDirectoryHandle,
        ): AsyncGenerator<FileSystemDirectoryHandle> {
          yield folder;
          for await (const handle of folder.values())
            if (handle instanceof FileSystemDirectoryHandle) yield* models(handle);
        };
        for await (const folder of models(root)) {
          const manifest = await folder.getFileHandle('model.json').catch(() => null);
          if (!manifest || !(await (await manifest.getFile()).text()).includes(JSON.stringify(url))) continue;
          for await (const [name, handle] of folder.entries()) {
            if (!(handle instanceof FileSystemFileHandle) || (await handle.getFile()).size <= at) continue;
            const before = new Uint8Array(await (await handle.getFile()).slice(at, at + 1).arrayBuffer());
            const writable = await handle.createWritable({ keepExistingData: true });
            await writable.write({ type: 'write', position: at, data: Uint8Array.of((before[0] ?? 0) ^ 1) });
            await writable.close();
            return name;
          }
        }
        throw new Error(`${url} is not stored`);
      },
      [url, offset] as const,
    );
  }

  async chooseDefault(): Promise<void> {
    await this.openModels();
    await this.page.click('.model-row >> nth=0');
    await this.nextFrame();
  }

  /** Waits until the model that is open has these words in its row. */
  async opened(words: string): Promise<void> {
    await this.page.waitForSelector(`.model-row[aria-pressed="true"]:has-text("${words}")`, {
      state: 'attached',
    });
  }

  async setBudget(kind: 'unlimited' | 'min' | 'bytes'): Promise<void> {
    await this.openActivity();
    await this.page.click(`label[for="budget-${kind}"]`);
    await this.nextFrame();
  }

  /** On a phone the panel is a drawer: opened for this and closed again. */
  async setBudgetInDrawer(kind: 'unlimited' | 'min' | 'bytes'): Promise<void> {
    await this.page.click('#activity-open');
    await this.setBudget(kind);
    await this.page.click('#panel-close');
    await this.ready();
  }

  /** The problem above the message field: its code, and the words a person reads. */
  async problem(): Promise<{ code: string; words: string }> {
    const card = await this.page.waitForSelector('#banner .problem');
    const code = (await card.getAttribute('data-code')) ?? '';
    return { code, words: (await (await card.$('p'))?.innerText()) ?? '' };
  }

  /** A figure of the memory panel in bytes. */
  async bytes(id: string): Promise<number> {
    await this.page.waitForSelector(`#${id}[data-bytes]`, { state: 'attached' });
    return Number(await this.page.getAttribute(`#${id}`, 'data-bytes'));
  }

  /** Memory is reported a moment after the answer: waits for a figure above `bytes`. */
  async memoryAbove(id: string, bytes: number): Promise<void> {
    await this.page.waitForFunction(
      ([figure, least]) => Number(document.getElementById(figure)?.dataset['bytes'] ?? -1) > least,
      [id, bytes] as const,
    );
  }

  /** Every file in this origin's private file system with its size; not the notes of when a model was used last. */
  storedFiles(): Promise<Record<string, number>> {
    return this.page.evaluate(async () => {
      const files: Record<string, number> = {};
      const walk = async (folder: FileSystemDirectoryHandle, prefix: string): Promise<void> => {
        for await (const [name, handle] of folder.entries()) {
          if (handle instanceof FileSystemDirectoryHandle) await walk(handle, `${prefix}${name}/`);
          else if (handle instanceof FileSystemFileHandle && name !== 'used.json')
            files[prefix + name] = (await handle.getFile()).size;
        }
      };
      await walk(await navigator.storage.getDirectory(), '');
      return files;
    });
  }
}
